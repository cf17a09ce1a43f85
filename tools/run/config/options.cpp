#include "tools/run/config/options.h"

#include "common/base/error.h"
#include "model/config/lora.h"

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
  fields.add("epochs", options.epochs,
             {.help = "Passes over data.train_file, in place of run.steps: the run has the steps "
                      "that they fill, rounded up. 0: run.steps counts.",
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
           "and optimizer.*, policy_loss.*, the terms of reward.*, evaluation.*, "
           "data.evaluation_file, rollout.max_staleness, rollout.max_response_tokens, "
           "update.zero_stage and update.max_micro_batch_tokens may differ from the run's: they "
           "apply from its first step that is not logged."});
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

void describe(FieldList& fields, LoraOptions& options) {
  fields.add("rank", options.rank,
             {.help = "Rank r of the low-rank pairs (LoRA) that are trained in place of the "
                      "weights, which stay as they are. 0: all weights are trained.",
              .min = 0,
              .max = 65536});
  fields.add("alpha", options.alpha,
             {.help = "Scale of the pairs: each adds alpha / rank times B A to its matrix.",
              .min = 1e-6,
              .max = 1e6});
  fields.add_one_or_more(
      "targets", options.targets,
      {.help = "Linear layers that get a pair, by PEFT's names: all-linear, or a list of q_proj, "
               "k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj."});
  fields.add(
      "quantize_base", options.quantize_base,
      {{"none", BaseQuantization::kNone}, {"nf4", BaseQuantization::kNormalFloat4}},
      {.help = "nf4 (QLoRA): the linear layers of the base take 4.5 bits a weight in learners "
               "and actors, with the numbers of bitsandbytes' NF4. none: the base is held "
               "as it is stored."});
  fields.refuse("dropout",
                "pairs have no dropout: with it, the log-probs of the learner would not be those "
                "that the sampler drew with");
}

void check_options(const LoraOptions& options) {
  if (trains_adapter(options)) {
    lora_targets(options.targets, "model.lora.targets");  // checks them
  } else if (options.quantize_base != BaseQuantization::kNone) {
    fail(
        "model.lora.quantize_base is nf4 and model.lora.rank is 0: only the frozen base of an "
        "adapter can be quantized; set the rank, or quantize_base to none");
  }
}

void describe(FieldList& fields, ModelOptions& options) {
  fields.add("path", options.path,
             {.help = "Hugging Face directory of the policy to start from: config.json, "
                      "model*.safetensors, tokenizer.json.",
              .unit = "path"});
  fields.add("adapter", options.adapter,
             {.help = "Directory of a LoRA adapter in PEFT's format for model.path. Empty: the one "
                      "in model.path, if it has one.",
              .unit = "path"});
  fields.add(
      "device", options.device,
      {.help = "cpu (the program's own operators), cpu-bf16 (the same with bf16 matmul operands, "
               "using AMX if the processor has it), cuda (bf16 compute with fp32 master weights; "
               "learners and actors of a "
               "node share its GPUs in turn) or cuda-exact (the same; the learner computes "
               "log-probs exactly as the sampler did, slower), the last two also with :<number>."});
  fields.add(
      "threads", options.threads,
      {.help = "Threads of a rank that computes on the CPU; 0: the host's cores shared by the "
               "ranks of the same role. Results do not depend on it.",
       .unit = "threads",
       .min = 0,
       .max = 1024});
}

}  // namespace lie
