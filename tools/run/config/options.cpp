#include "tools/run/config/options.h"

namespace lie {

void describe(FieldList& fields, DirectoryOptions& options) {
  fields.add("directory", options.directory,
             {.help = "The run directory: config and results go there, and a run that it holds is "
                      "continued.",
              .unit = "directory"});
}

void describe(FieldList& fields, RunOptions& options) {
  fields.add("directory", options.directory,
             {.help = "The run directory: config, metrics, trajectories and checkpoints go there, "
                      "and a run that it holds is continued.",
              .unit = "directory"});
  fields.add("seed", options.seed,
             {.help = "Seed of the prompt order and of every sampled token.", .min = 0});
  fields.add("steps", options.steps, {.help = "Training steps in all.", .unit = "steps", .min = 1});
  fields.add(
      "resume", options.resume,
      {{"auto", Resume::kAuto}, {"never", Resume::kNever}, {"must", Resume::kMust}},
      {.help =
           "auto: continue where the directory holds a run of this config, begin where it is empty "
           "or absent; never: refuse a directory that holds a run; must: refuse to begin one."});
  fields.add(
      "time_limit_minutes", options.time_limit_minutes,
      {.help = "A step that would not end within this time from the start is not begun, and one "
               "that takes too long is stopped within: the run ends with exit status 75, and the "
               "same command goes on; 0: no limit but that of the Slurm job.",
       .unit = "minutes",
       .min = 0});
  fields.add("schedule", options.schedule,
             {{"free", ScheduleMode::kFree}, {"recorded", ScheduleMode::kRecorded}},
             {.help = "recorded: schedule.jsonl in the run directory says under which weights each "
                      "group was generated, which with rollout.max_staleness depends on timing; "
                      "run.follow_schedule repeats the run by it."});
  fields.add("follow_schedule", options.follow_schedule,
             {.help = "The schedule.jsonl of a run of this config, seed and data, which is "
                      "repeated bit for bit, on any number of actors; empty: none.",
              .unit = "path"});
  fields.add_one_or_more(
      "replay_of", options.replay_of,
      {.help = "Set by lie_replay train: the run whose log is learned from, or several; empty: "
               "responses are generated."});
  fields.add("replay_from", options.replay_from,
             {.help = "Set by lie_replay train: the checkpoint that it begins with; empty: the "
                      "start model."});
  fields.add("replay_steps", options.replay_steps,
             {.help = "Set by lie_replay train: the logged steps; empty: all."});
  fields.add("replay_groups", options.replay_groups,
             {.help = "Set by lie_replay train: the groups of a step; empty: all."});
}

void describe(FieldList& fields, ModelOptions& options) {
  fields.add("path", options.path,
             {.help = "Hugging Face directory of the policy to start from: config.json, "
                      "model*.safetensors, tokenizer.json.",
              .unit = "path"});
  fields.add(
      "device", options.device,
      {.help = "cpu (the program's own operators), cpu-bf16 (the same with matrix products of "
               "operands in bf16, by AMX where the processor has it), aten-cpu (LibTorch's, for "
               "comparison), cuda (bf16 compute with fp32 master weights; learners and actors of a "
               "node share its GPUs in turn) or cuda-exact (the same; the learner forms a token's "
               "log-prob as the sampler did, slower), the last two also with :<number>."});
  fields.add(
      "threads", options.threads,
      {.help = "Threads of a rank that computes on the CPU; 0: the host's cores shared by the "
               "ranks of the same role. Results do not depend on it.",
       .unit = "threads",
       .min = 0,
       .max = 1024});
}

}  // namespace lie
