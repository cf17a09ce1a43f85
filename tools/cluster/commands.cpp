#include "tools/cluster/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/comm/launcher.h"
#include "common/process/program.h"
#include "tools/arguments/help.h"
#include "tools/arguments/job_program.h"
#include "tools/eval/eval_command.h"
#include "tools/forecast/forecast_command.h"
#include "tools/sft/sft_command.h"

namespace lie {
namespace {

void add_commands(CLI::App& program, JobCommand& in_job, ProcessCommand& without_job) {
  add_train(program, in_job);
  add_sft(program, in_job);
  add_eval(program, in_job);
  add_reference_lengths(program, in_job);
  add_forecast(program, in_job);
  add_data(program, without_job);
  add_init(program, without_job);
  add_tokenize(program, without_job);
  add_score(program, without_job);
  add_generate(program, without_job);
  add_merge(program, without_job);
  add_plan(program, without_job);
  add_probe(program, without_job);
}

/// `reports_errors`: whether this process reports errors of the command line for the job. Returns
/// the exit status.
int run(int argc, char** argv, bool reports_errors) {
  CLI::App program("LIE Cluster: reinforcement learning for reasoning models under MPI.",
                   "lie_cluster");
  set_help_format(program);
  program.set_version_flag("--version", std::string(build_id()));
  program.require_subcommand(1);
  JobCommand in_job;
  ProcessCommand without_job;
  add_commands(program, in_job, without_job);
  try {
    require_command(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return reports_errors ? program.exit(error) : error.get_exit_code();
  }
  if (!without_job) return run_job(in_job);
  if (launcher::ranks() > 1) {
    fail("lie_cluster {} runs in one process: start it without mpirun or srun", argv[1]);
  }
  without_job();
  return 0;
}

}  // namespace

void print_warning(const std::string& text) {
  if (!text.empty()) std::cerr << "warning: " << text << '\n';
}

int run_command_line(int argc, char** argv) {
  const bool is_first = launcher::rank() == 0;
  return run_program("error", [&] { return run(argc, argv, is_first); },
                     {.reports_errors = is_first});
}

}  // namespace lie
