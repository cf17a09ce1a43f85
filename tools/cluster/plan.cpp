// The arguments of lie_cluster plan.
#include "tools/plan/plan.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "common/config/config.h"
#include "tools/arguments/number_arguments.h"
#include "tools/cluster/commands.h"
#include "tools/run/config/train_config.h"

namespace lie {
namespace {

void add_lengths_and_costs(CLI::App& command, PlanArguments& arguments) {
  const auto lengths = command.add_option(
      "--lengths", arguments.lengths,
      "Run directory with the response lengths; default: run.directory, if it has responses");
  command
      .add_option("--median-tokens", arguments.median_tokens,
                  "Use log-normal lengths with this median instead, cut at the longest response")
      ->check(numbers(1))
      ->excludes(lengths);
  add_number(command, "--sigma", arguments.sigma, "Standard deviation of the lengths' logarithms",
             0, 10);
  command.add_option("--costs", arguments.costs,
                     "Output of --json on the machine of the run; default: measured here");
  command
      .add_option("--bytes-per-second", arguments.bytes_per_second,
                  "Bandwidth between ranks; default: that of --costs, or 1.25e9")
      ->check(numbers(1));
}

}  // namespace

void add_plan(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = program.add_subcommand(
      "plan", "Memory of each role, expected step time and idle shares of a training run");
  add_config(*command, *arguments, explain_config_of<TrainConfig>);
  command->add_option("--ranks", arguments->ranks, "Numbers of ranks, such as 8,64,512")
      ->delimiter(',')
      ->check(integers(1, 1 << 20))
      ->capture_default_str();
  add_integer(*command, "--ranks-per-host", arguments->ranks_per_host, "Ranks on each host; 0: all",
              0);
  command
      ->add_option("--cores", arguments->cores,
                   "Cores of a host, shared by its ranks; 0: ranks share none; default: as many as "
                   "here, or 0 with model.device cuda")
      ->check(integers(0, 4096));
  add_lengths_and_costs(*command, *arguments);
  command->add_flag("--json", arguments->json, "JSON, with the costs, for --costs");
  command->footer(
      "\nStarts and writes nothing. Memory is exact; step time is a formula over measured costs\n"
      "(tools/plan/step_time.h). docs/benchmarks/plan-error.md measures its error.");
  command->callback([&chosen, arguments] { chosen = [=] { plan(*arguments, std::cout); }; });
}

}  // namespace lie
