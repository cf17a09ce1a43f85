// lie_cluster train: runs reinforcement learning as a config says.
#include <fmt/ranges.h>

#include <cstdint>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/host_cpus.h"
#include "common/comm/roles.h"
#include "common/config/config.h"
#include "common/process/log.h"
#include "common/process/stop_signals.h"
#include "common/text/counted.h"
#include "learner/schedule/early_stop.h"
#include "rewards/program.h"
#include "tools/arguments/config_command.h"
#include "tools/cluster/commands.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/gpu_fit.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/config/role_layout.h"
#include "tools/run/config/train_config.h"
#include "tools/run/input/prompts.h"
#include "tools/run/roles/runtime.h"
#include "tools/run/start/prepare_run.h"
#include "tools/run/start/run_start.h"
#include "tools/run/start/run_summary.h"
#include "tools/run/start/start_messages.h"

namespace lie {
namespace {

/// Runs this rank's roles in a stage of the run, with the settings of that stage. Returns whether
/// another stage follows. Collective over the world.
bool run_stage(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
               const RoleLayout& layout, Collective& world, EarlyStop& stop) {
  const TrainConfig settings = settings_of(config, start);
  job.set_role(layout.roles_of(job.rank()));
  job.set_activity("training");
  job.end_start();
  if (job.size() == 1) {
    run_in_one_process(settings, start, std::move(prompts), layout, stop);
  } else {
    run_over_mpi(job, settings, start, std::move(prompts), layout, stop);
  }
  bool continues = !start.settings.empty() && stop.reason().empty();
  broadcast_value(world, continues);
  return continues;
}

/// Returns the number of steps of run.epochs passes over the training prompts, and logs it.
std::int64_t steps_of_epochs(const TrainConfig& config) {
  const PromptStream stream(read_training_prompts(config.data, config.model.path, nullptr),
                            prompt_order(config.data, 0));
  const std::int64_t prompts = stream.problems_in(config.run.epochs);
  const std::int64_t size = config.tickets.prompts_per_step;
  const std::int64_t steps = divided_up(prompts, size);
  Log("learner", 0)
      .info("run.epochs {}: {} of {}, {} a step, are {}", config.run.epochs,
            counted(prompts, "prompt"), fmt::join(config.data.train_file, ", "), size,
            counted(steps, "step"));
  return steps;
}

/// Replaces run.epochs by run.steps, and checks what depends on it. Collective over the world.
void resolve_length(const Job& job, Collective& world, TrainConfig& config) {
  if (config.run.epochs > 0) {
    if (job.rank() == 0) config.run.steps = steps_of_epochs(config);
    broadcast_value(world, config.run.steps);
    config.run.epochs = 0;
  }
  check_decay(config);
}

/// Sizes the caches by the GPUs of this host, and throws Error if these do not hold the roles.
/// Other hosts are taken to be equal.
void fit_gpus(TrainConfig& config, const RoleLayout& layout) {
  const auto operators = make_operators(config.model, 1);
  const std::optional<std::int64_t> free = operators->free_bytes();
  if (!free) return;
  const ModelConfig model = trained_config(config.model, config.model.path);
  const GpuHosts hosts{.gpus = shared_gpus(config.model), .bytes = *free, .process_bytes = 0};
  const std::string misfit = gpu_misfit(config, model, operators->dtypes(), layout, hosts);
  if (!misfit.empty()) fail("{}", misfit);
  set_cache(config, model, operators->dtypes(), layout, hosts);
}

/// Runs this rank's roles in the training. Throws Error, before anything is written if the start is
/// invalid. With `dry_run` it checks the start and writes nothing. Collective over the world.
void train(Job& job, const ConfigArguments& arguments) {
  job.set_activity("reading the config");
  TrainConfig config = load_train_config(arguments.config, arguments.overrides);
  if (config.run.replay != ReplayOptions()) {
    fail("run.replay_of is set: this is a replay of {}; resume it with lie_replay train",
         fmt::join(config.run.replay.of, ", "));
  }
  check_command("reward.command", config.reward.command);
  check_command("verifier.command", config.verifier_program.command);
  if (!arguments.dry_run) note_stop_signals();  // a dry run has nothing to save: any signal ends it
  EarlyStop stop = early_stop(job, config);
  if (!config.roles.keep_binding) widen_binding();
  job.limit_collectives(60 * config.run.collective_time_limit_minutes);
  const auto world = world_collective(job);
  job.set_activity("preparing the run");
  resolve_length(job, *world, config);
  const RoleLayout layout = layout_of(
      config,
      gather_places(job, {job.environment().host(), usable_cpus(), visible_gpus(config.model)}));
  if (job.rank() == 0) fit_gpus(config, layout);
  broadcast_value(*world, config.rollout.cache_mebibytes);
  if (arguments.dry_run) {
    if (job.rank() == 0) {
      print_dry_run(dump_config_of(config), "learner",
                    start_text(config, plan_run(config), layout));
    }
    return;
  }
  PreparedRun prepared;
  if (job.rank() == 0) {
    prepared = prepare_run(job, config, "lie_cluster train");
    Log("learner", 0).info("{}", start_text(config, prepared, layout));
  }
  RunStart start = share_start(prepared.start, *world);
  if (is_finished(start)) return;
  while (run_stage(job, config, start, std::move(prepared.inputs.prompts), layout, *world, stop)) {
    if (job.rank() == 0) prepared = prepare_next_stage(config);
    start = share_start(prepared.start, *world);
    if (is_finished(start)) break;
  }
  end_run(job, config, start, stop);
}

}  // namespace

void add_train(CLI::App& program, JobCommand& chosen) {
  add_config_command(program, chosen, "train",
                     "Train by reinforcement learning; run it under mpirun or srun",
                     explain_config_of<TrainConfig>, train);
}

}  // namespace lie
