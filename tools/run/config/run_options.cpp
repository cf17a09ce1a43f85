#include "tools/run/config/run_options.h"

namespace lie {

void describe(FieldList& fields, DirectoryOptions& options) {
  fields.add("directory", options.directory,
             {.help = "The run directory for config and results. A run in it is resumed.",
              .unit = "directory"});
}

void add_collective_time_limit(FieldList& fields, double& minutes) {
  fields.add("collective_time_limit_minutes", minutes,
             {.help = "A collective over NCCL that is not complete within this time ends the run "
                      "with an error that names operation, rank and host: a GPU or a link hangs. "
                      "It decides no result. 0: no limit.",
              .unit = "minutes",
              .min = 0});
}

void describe(FieldList& fields, RunOptions& options) {
  fields.add("directory", options.directory,
             {.help = "The run directory for config, metrics, trajectories and checkpoints. A run "
                      "in it is resumed.",
              .unit = "directory"});
  fields.add("seed", options.seed,
             {.help = "Seed of the prompt order and of every sampled token.", .min = 0});
  fields.add("steps", options.steps, {.help = "Training steps in all.", .unit = "steps", .min = 1});
  fields.add(
      "epochs", options.epochs,
      {.help = "Passes over data.train_file, in place of run.steps: the run has the steps "
               "that they fill, rounded up. A config sets one of the two. 0: run.steps counts.",
       .unit = "passes",
       .min = 0});
  fields.add("stop_when", options.stop_when,
             {.help = "Ends the run, as complete, after the first step whose evaluation meets this "
                      "condition: \"eval_accuracy >= 0.8\". Empty: none."});
  fields.add(
      "resume", options.resume,
      {{"auto", Resume::kAuto},
       {"never", Resume::kNever},
       {"must", Resume::kMust},
       {"changed", Resume::kChanged}},
      {.help =
           "auto: resume the run in the directory, or begin one if it is empty or absent; never: "
           "refuse a directory that holds a run; must: refuse to begin a run; changed: like auto, "
           "and optimizer.*, policy_loss.*, the terms of the reward (reward.length.* and so on), "
           "evaluation.*, data.evaluation_file, rollout.max_staleness (not with first_groups), "
           "rollout.max_response_tokens, update.zero_stage and update.max_micro_batch_tokens may "
           "differ from the run's: they apply from its first step that is not logged."});
  fields.add(
      "time_limit_minutes", options.time_limit_minutes,
      {.help = "A step that would not end within this time from the start is not begun, and a step "
               "that exceeds it is stopped. The run then ends with exit status 75, and the same "
               "command resumes it. 0: only the limit of the Slurm job applies.",
       .unit = "minutes",
       .min = 0});
  add_collective_time_limit(fields, options.collective_time_limit_minutes);
  fields.add(
      "schedule", options.schedule,
      {{"free", ScheduleMode::kFree}, {"recorded", ScheduleMode::kRecorded}},
      {.help = "recorded: schedule.jsonl in the run directory lists the weights that generated "
               "each group. With rollout.max_staleness they depend on timing; "
               "run.follow_schedule repeats the run from this file."});
  fields.add(
      "follow_schedule", options.follow_schedule,
      {.help = "The schedule.jsonl of a run of this config, seed and data. The run is repeated "
               "bit for bit, on any number of actors. Empty: none.",
       .unit = "path"});
  const auto stored = [](const char* help) {
    return FieldInfo{.help = help, .set_by = "lie_replay train"};
  };
  ReplayOptions& replay = options.replay;
  fields.add_one_or_more("replay_of", replay.of,
                         stored("The run, or runs, from whose log the learner trains."));
  fields.add("replay_from", replay.from,
             stored("The checkpoint to start from; empty: the start model."));
  fields.add("replay_steps", replay.steps, stored("The logged steps; empty: all."));
  fields.add("replay_groups", replay.groups, stored("The groups of a step; empty: all."));
}

}  // namespace lie
