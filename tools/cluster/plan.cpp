#include "tools/cluster/plan.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "common/base/error.h"
#include "common/comm/environment.h"
#include "common/comm/host_cpus.h"
#include "common/config/config.h"
#include "common/io/json.h"
#include "common/process/program.h"
#include "common/text/counted.h"
#include "tools/arguments/values.h"
#include "tools/cluster/commands.h"
#include "tools/cluster/step_time.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/gpu_fit.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/config/role_layout.h"
#include "tools/run/config/role_memory.h"
#include "tools/run/start/run_summary.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using namespace planning;

/// The expectations for one number of ranks.
struct RanksPlan {
  RoleLayout layout;
  std::vector<RoleMemory> memory;
  std::optional<StepTime> time;  // none without the log of a run
  std::string misfit = {};       // see gpu_misfit()
};

struct Inputs {
  TrainConfig config;
  ModelConfig model;
  ComputeDTypes dtypes;
  std::string run_directory;
  std::optional<MeasuredStep> run;
  Hosts hosts;
  std::optional<GpuHosts> gpus = {};  // none if they are unknown, or on the CPU
};

/// An allowance for the libraries of a process on a GPU. It was not measured.
constexpr std::int64_t kProcessBytes = std::int64_t{1} << 30;

ModelConfig model_of(const TrainConfig& config) {
  if (fs::is_regular_file(fs::path(config.model.path) / "config.json")) {
    return trained_config(config.model, config.model.path);
  }
  fail("{}/config.json is not there: a plan needs it for sizes; set model.path", config.model.path);
}

Inputs inputs_of(const PlanArguments& arguments) {
  TrainConfig config = load_train_config(arguments.config, arguments.overrides);
  // These may throw. GCC 12 then destroys members of an aggregate that were not made yet.
  ModelConfig model = model_of(config);
  const ComputeDTypes dtypes = is_on_gpu(config.model) ? ComputeDTypes(DType::kBFloat16)
                                                       : make_operators(config.model, 1)->dtypes();
  Inputs in{.config = {},
            .model = std::move(model),
            .dtypes = dtypes,
            .run_directory = arguments.run.empty() ? config.run.directory : arguments.run,
            .run = {},
            .hosts = {.ranks = arguments.ranks_per_host,
                      .cores = is_on_gpu(config.model) ? 0 : std::ssize(usable_cpus())}};
  if (is_on_gpu(config.model) && arguments.gpu_gib > 0) {
    const std::int64_t gpus = arguments.gpus_per_host > 0 ? arguments.gpus_per_host : 1;
    in.gpus = {.gpus = gpus, .bytes = arguments.gpu_gib << 30, .process_bytes = kProcessBytes};
  }
  in.run = measured_step(in.run_directory);
  if (!in.run && !arguments.run.empty()) {
    fail(
        "--run {}: holds no step after the first that took no time for an evaluation: name a run "
        "of a few steps, as train CONFIG --set run.steps=5 --set evaluation.every=0 makes it",
        arguments.run);
  }
  in.config = std::move(config);
  return in;
}

std::optional<StepTime> time_of(const Inputs& in, const RoleLayout& layout) {
  if (!in.run) return std::nullopt;
  const Processors of_run = processors_of(in.run->layout, in.hosts, in.run->threads);
  const Processors planned = processors_of(layout, in.hosts, in.config.model.threads);
  return step_time(*in.run, of_run, planned, responses_of(in.config),
                   in.config.tickets.max_staleness);
}

/// Returns names for the GPUs of a host.
std::vector<std::string> gpu_names(const std::optional<GpuHosts>& gpus) {
  std::vector<std::string> names;
  for (std::int64_t gpu = 0; gpus && gpu < gpus->gpus; ++gpu) names.push_back(std::to_string(gpu));
  return names;
}

RanksPlan plan_of(const Inputs& in, std::int64_t ranks) {
  std::vector<RankPlace> places;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    places.push_back({std::to_string(in.hosts.host_of(rank)), {}, gpu_names(in.gpus)});
  }
  RoleLayout layout = layout_of(in.config, std::move(places));
  TrainConfig config = in.config;
  if (in.gpus) set_cache(config, in.model, in.dtypes, layout, *in.gpus);
  std::vector<RoleMemory> memory = memory_of_roles(config, in.model, in.dtypes, layout);
  const std::optional<StepTime> time = time_of(in, layout);
  std::string misfit;
  if (in.gpus) misfit = gpu_misfit(in.config, in.model, in.dtypes, layout, *in.gpus);
  return {std::move(layout), std::move(memory), time, std::move(misfit)};
}

std::string times_text(const Inputs& in) {
  if (!in.run) return "unknown: train with --set run.steps=5, then plan with --run DIRECTORY";
  const RoleLayout& layout = in.run->layout;
  return fmt::format(
      "scaled from steps {} to {} of {}, with {}, {}, {}; without evaluations, checkpoints and "
      "messages",
      in.run->first_step, in.run->last_step, in.run_directory,
      counted(std::ssize(layout.actors), "actor"),
      counted(std::ssize(layout.reward_workers), "reward worker"),
      counted(std::ssize(layout.learners), "learner"));
}

std::string hosts_text(const Hosts& hosts, const std::optional<GpuHosts>& gpus) {
  const std::string ranks =
      hosts.ranks > 0 ? counted(hosts.ranks, "rank") + " a host" : "all ranks on one host";
  if (gpus) {
    return fmt::format("{}, {} of {} GiB", ranks, counted(gpus->gpus, "GPU"), gpus->bytes >> 30);
  }
  if (hosts.cores == 0) {
    return ranks +
           ", whose GPUs are not given: --gpus-per-host and --gpu-gib check whether it fits";
  }
  return fmt::format("{} of {} cores, as here", ranks, hosts.cores);
}

/// Describes which ranks use GPUs.
std::string roles_text(const RoleLayout& layout) {
  const std::string learners = counted(std::ssize(layout.learners), "learner");
  const std::string scoring = layout.has(0, Role::kRewardWorker)
                                  ? "learner 0 also scores"
                                  : counted(std::ssize(layout.reward_workers), "reward worker");
  if (layout.is_colocated()) {
    return fmt::format("{}, each also an actor; {}", learners, scoring);
  }
  return fmt::format("{} and {}; {}", learners, counted(std::ssize(layout.actors), "actor"),
                     scoring);
}

/// Describes what is planned, and where the numbers come from.
std::vector<SummaryEntry> entries_of(const Inputs& in, const std::vector<RanksPlan>& plans) {
  const TicketOptions& step = in.config.tickets;
  std::vector<SummaryEntry> entries = {
      {"step", fmt::format("{} prompts with {} responses, {} prompts an update, staleness {}",
                           step.prompts_per_step, step.samples_per_prompt,
                           in.config.update.mini_batch_prompts, step.max_staleness)},
      {"times", times_text(in)},
      {"hosts", hosts_text(in.hosts, in.gpus)},
      memory_entry(plans.front().memory)};
  if (is_on_gpu(in.config.model)) {
    const RanksPlan& plan = plans.front();
    entries.push_back({"roles", roles_text(plan.layout)});
    entries.push_back(
        {"on a host",
         fmt::format("{:.1f} GiB of host memory for the roles",
                     static_cast<double>(fullest_host(plan.layout, plan.memory)) / (1 << 30))});
  }
  for (const RanksPlan& plan : plans) {
    if (!in.gpus) break;
    const std::string on = counted(std::ssize(plan.layout.places), "rank");
    const GpuUse use = fullest_gpu(plan.layout, plan.memory, *in.gpus);
    entries.push_back({plan.misfit.empty() ? "fits" : "DOES NOT FIT",
                       plan.misfit.empty()
                           ? fmt::format("{}: {:.1f} GiB on the fullest GPU, with 1 GiB for the "
                                         "libraries of each process",
                                         on, static_cast<double>(use.bytes) / (1 << 30))
                           : on + ": " + plan.misfit});
  }
  const auto shares_cores = [&](const RanksPlan& plan) {
    return std::ssize(plan.layout.places) > in.hosts.cores;
  };
  if (in.hosts.ranks == 0 && in.hosts.cores > 0 && std::ranges::any_of(plans, shares_cores)) {
    entries.push_back(
        {"warning", fmt::format("all ranks share the {} of one host, so more ranks are not "
                                "faster; plan several hosts by --ranks-per-host",
                                counted(in.hosts.cores, "core"))});
  }
  return entries;
}

/// Returns "-" if learner 0 also scores.
std::string reward_workers_of(const RoleLayout& layout) {
  const bool is_learner = layout.reward_workers.front() == layout.learners.front();
  return is_learner ? "-" : std::to_string(layout.reward_workers.size());
}

std::string row_of(const RanksPlan& plan) {
  const auto& [layout, memory, time, misfit] = plan;
  std::string row =
      fmt::format("\n{:>5} {:>6} {:>6} {:>8}", layout.places.size(), layout.actors.size(),
                  reward_workers_of(layout), layout.learners.size());
  if (!time) return row;
  return row + fmt::format(" {:>9.3g} {:>9.0f} {:>5.0f} {:>6.0f} {:>7.0f}", time->step,
                           time->tokens_per_second, 100 * time->idle_actor,
                           100 * time->idle_reward_worker, 100 * time->idle_learner);
}

/// Returns a table, at most 80 columns wide.
std::string table_of(const std::vector<RanksPlan>& plans) {
  std::string text = plans.front().time
                         ? "\n\n                                                  idle, %"
                           "\nranks actors reward learners    step s  tokens/s actor reward learner"
                         : "\n\nranks actors reward learners";
  for (const RanksPlan& plan : plans) text += row_of(plan);
  return text + "\n";
}

Json json_of(const RanksPlan& plan) {
  const auto& [layout, memory, time, misfit] = plan;
  Json json = {{"ranks", layout.places.size()},
               {"actors", layout.actors.size()},
               {"reward_workers", layout.reward_workers.size()},
               {"learners", layout.learners.size()}};
  for (const auto& [role, of_role] : memory) {
    Json& parts = json["memory"][role];
    for (const MemoryPart& part : of_role.parts) parts["bytes"][part.what] = part.bytes;
    parts["all_bytes"] = of_role.bytes();
    parts["device_bytes"] = of_role.device_bytes();
  }
  if (!misfit.empty()) json["misfit"] = misfit;
  if (!time) return json;
  json["step_seconds"] = time->step;
  json["tokens_per_second"] = time->tokens_per_second;
  json["generate_seconds"] = time->generate;
  json["update_seconds"] = time->update;
  json["publish_seconds"] = time->publish;
  json["idle_share_actor"] = time->idle_actor;
  json["idle_share_reward_worker"] = time->idle_reward_worker;
  json["idle_share_learner"] = time->idle_learner;
  return json;
}

Json json_of(const std::string& config, const std::vector<SummaryEntry>& entries,
             const std::vector<RanksPlan>& plans) {
  Json summary = Json::object(), ranks = Json::array();
  for (const SummaryEntry& entry : entries) summary[entry.name] = entry.value;
  for (const RanksPlan& plan : plans) ranks.push_back(json_of(plan));
  return {{"config", config}, {"summary", summary}, {"ranks", ranks}};
}

/// Refuses former arguments, whose values now come from a run's log.
void add_former_arguments(CLI::App& command) {
  const auto refuse = [](const std::string&) {
    fail(
        "--costs, --lengths, --median-tokens, --sigma, --bytes-per-second and --cores are gone: "
        "give --run DIRECTORY, a run from whose log step times are scaled");
  };
  command
      .add_option_function<std::string>(
          "--costs,--lengths,--median-tokens,--sigma,--bytes-per-second,--cores", refuse)
      ->group("");
}

}  // namespace

void plan(const PlanArguments& arguments, std::ostream& out) {
  const Inputs in = inputs_of(arguments);
  std::vector<RanksPlan> plans;
  for (const std::int64_t ranks : arguments.ranks) plans.push_back(plan_of(in, ranks));
  const std::vector<SummaryEntry> entries = entries_of(in, plans);
  if (arguments.json) {
    out << json_of(arguments.config, entries, plans).dump(2) << '\n';
  } else {
    out << run_summary_text("plan of " + arguments.config, entries) << table_of(plans);
  }
  flush_output(out);
  for (const RanksPlan& plan : plans) {
    if (!plan.misfit.empty()) fail("{}: {}", arguments.config, plan.misfit);
  }
}

void add_plan(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = program.add_subcommand(
      "plan", "Memory of each role, expected step time and idle shares of a training run");
  add_config(*command, *arguments, explain_config_of<TrainConfig>);
  command->add_option("--ranks", arguments->ranks, "Numbers of ranks, such as 8,64,512")
      ->delimiter(',')
      ->check(integers(1, 1 << 20))
      ->capture_default_str();
  add_integer(*command, "--ranks-per-host", arguments->ranks_per_host,
              "Ranks on each host, also of the run; 0: all", 0);
  add_integer(*command, "--gpus-per-host", arguments->gpus_per_host,
              "GPUs of each host, with --gpu-gib; default: 1", 0);
  add_integer(*command, "--gpu-gib", arguments->gpu_gib,
              "Memory of each GPU in GiB: refuse ranks on which the run does not fit", 0);
  command->add_option("--run", arguments->run,
                      "Run directory whose logged step times are scaled; default: run.directory, "
                      "if it has a log");
  command->add_flag("--json", arguments->json, "Print JSON");
  add_former_arguments(*command);
  command->footer(
      "\nStarts and writes nothing. Memory is exact; step times are scaled from the log of a run\n"
      "(tools/cluster/step_time.h). docs/benchmarks/plan-error.md measures their error.");
  command->callback([&chosen, arguments] { chosen = [=] { plan(*arguments, std::cout); }; });
}

}  // namespace lie
