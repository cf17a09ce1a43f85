#include "tools/sft/sft_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/roles.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/io/metrics_log.h"
#include "common/process/log.h"
#include "common/process/stop_signals.h"
#include "common/process/terminal.h"
#include "common/process/writer_lock.h"
#include "common/text/counted.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "learner/sft/sft.h"
#include "learner/sft/sft_batches.h"
#include "learner/trainer/sharded_trainer.h"
#include "model/collective/device_collective.h"
#include "tools/arguments/config_command.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/memory_plan.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/start/input_difference.h"
#include "tools/run/start/input_record.h"
#include "tools/run/start/resume.h"
#include "tools/run/start/run_summary.h"
#include "tools/sft/sft_config.h"
#include "tools/sft/sft_inputs.h"
#include "tools/sft/sft_recorder.h"

namespace lie {
namespace {

/// Returns the start weights that this learner holds.
Weights start_weights(const SftConfig& config, const Collective& learners, Operators& operators) {
  const auto seed = static_cast<std::uint64_t>(config.sft.seed);
  if (!config.initialize) {
    return start_weights(config.model, seed, learners.rank(), learners.size(), operators);
  }
  const ModelConfig model = load_model_config(config.model.path);
  const FlatRange held = held_range(parameter_layout(model), learners.rank(), learners.size());
  return initial_weights(model, seed, operators, held);
}

/// Throws Error if the directory holds another run. A resume may change the length of the run,
/// unless the schedule of the rate ends with it.
void check_directory(SftConfig config) {
  const FieldList fields = fields_of(config);
  const std::vector<std::string> length = {"run.epochs"};
  const fs::path directory = config.run.directory;
  if (!holds_this_run(directory, fields, length)) return;
  const OptimizerOptions& optimizer = config.sft.optimizer;
  if (optimizer.schedule == Schedule::kConstant || optimizer.decay_until > 0) return;
  for (const std::string& difference : config_differences(fields, directory / kConfigFile, {})) {
    if (!difference.starts_with("run.steps:") && !difference.starts_with("run.epochs:")) continue;
    fail(
        "run.directory {} holds a run whose learning rate decays to its end ({}): restore it, "
        "or name another directory",
        directory.string(), difference);
  }
}

/// Returns whether a start resumes something.
bool has_checkpoints(const SftConfig& config) {
  const fs::path checkpoints = fs::path(config.run.directory) / kCheckpoints;
  return fs::exists(checkpoints) && !fs::is_empty(checkpoints);
}

/// Throws Error if the directory has a checkpoint of a run with other inputs (invariant E12).
void check_inputs_of_run(const SftConfig& config, const InputRecord& inputs) {
  if (has_checkpoints(config)) check_same_inputs(config.run.directory, inputs);
}

/// Warns of a rate at which no run learns, and of a warm-up that takes the whole run, or was
/// shortened because it would.
void warn_of_schedule(const SftConfig& config, const SftOptions& scheduled) {
  const std::int64_t chosen = config.sft.optimizer.warmup, used = scheduled.optimizer.warmup;
  const Log log("sft", 0);
  log.warn_if_any(learning_rate_warning(config.sft.optimizer.learning_rate));
  if (used != chosen) {
    log.warn(
        "the run of {} would end within the default warm-up of {}: the warm-up is {} long; set "
        "optimizer.warmup to choose another",
        counted(scheduled.steps, "update"), chosen, counted(used, "update"));
    return;
  }
  log.warn_if_any(warmup_warning(used, scheduled.steps, "update"));
}

LearnerSizes sizes_of(const SftConfig& config, const SftInputs& inputs, DType packed) {
  const auto& lora = inputs.model.lora;
  const DType frozen = lora ? fixed_dtype(config.model, plan_weights(lora->base), packed) : packed;
  std::size_t longest = 0;
  for (const SftExample& example : inputs.train) {
    longest = std::max(longest, example.prompt.size() + example.response.size());
  }
  const CheckpointOptions& checkpoint = config.sft.checkpoint;
  return {.micro_batch_tokens = std::max(config.sft.trainer.max_micro_batch_tokens,
                                         static_cast<std::int64_t>(longest)),
          .activation_bytes = config.sft.trainer.activation_mebibytes << 20,
          .copies_checkpoints = checkpoint.background && checkpoint.every > 0,
          .gradient_shards = config.sft.trainer.gradient_shards,
          .zero_stage = config.sft.trainer.zero_stage,
          .moments = config.sft.optimizer.moments,
          .moments_on_host =
              is_on_gpu(config.model) && config.sft.optimizer.moments_on == MomentsOn::kHost,
          .frozen = frozen,
          .learners = inputs.learners};
}

/// Returns the summary that the log shows at the start. `dtypes` are those of the operators.
std::string start_text(const SftConfig& config, const SftInputs& inputs, std::int64_t steps_done,
                       const ComputeDTypes& dtypes) {
  const auto examples_of = [](const std::vector<SftExample>& rows, const std::string& file) {
    return counted(std::ssize(rows), "example") + " of " + file;
  };
  std::vector<SummaryEntry> entries = {
      model_entry(config.model.path, parameter_count(parameter_layout(inputs.model))),
      {"data", examples_of(inputs.train, config.sft.train_file)}};
  if (inputs.model.lora)
    entries.insert(entries.begin() + 1, adapter_entry(config.model, inputs.model));
  if (!inputs.held_out.empty()) {
    entries.push_back(
        {"validation",
         examples_of(inputs.held_out,
                     fmt::format("{}", fmt::join(config.sft.evaluation_file, ", ")))});
  }
  entries.push_back({"prompts", "template " + config.sft.prompt_template});
  entries.push_back({"responses", inputs.ends.text});
  const LearnerSizes sizes = sizes_of(config, inputs, dtypes.packed);
  entries.push_back(
      {"memory", "learner " + memory_text(learner_memory(inputs.model, dtypes, sizes))});
  const SftOptions& sft = config.sft;
  const std::string length =
      sft.steps > 0 ? counted(sft.steps, "step") : counted(sft.epochs, "epoch");
  return run_summary_text(
      run_headline(config.run.directory, steps_done > 0 ? std::optional(steps_done) : std::nullopt,
                   length),
      entries);
}

std::int64_t saved_steps(const SftConfig& config, const auto& find_checkpoint) {
  const auto checkpoint =
      find_checkpoint(fs::path(config.run.directory) / kCheckpoints, Log("sft", 0), {}, kAnyStep);
  return checkpoint ? load_trainer_state(*checkpoint).step : 0;
}

/// Creates the run directory, or opens it to resume its run. Returns the steps done. Rank 0 only.
std::int64_t begin_run(Job& job, SftConfig config, const InputRecord& inputs) {
  constexpr std::string_view kCommand = "lie_cluster sft";
  check_inputs_of_run(config, inputs);
  open_run_directory(job, config.run.directory, fields_of(config), inputs, kCommand, [&] {
    check_directory(config);
    check_inputs_of_run(config, inputs);
  });
  record_this_start(job, config.run.directory, kCommand);
  return saved_steps(config, valid_checkpoint);
}

/// Prints the summary of a dry run and writes no files. Rank 0 only.
void print_plan(const SftConfig& config, const SftInputs& inputs, const ComputeDTypes& dtypes) {
  check_inputs_of_run(config, record_of(config, inputs, has_checkpoints(config)));
  check_writable(config.run.directory);
  const std::int64_t steps_done = saved_steps(config, find_valid_checkpoint);
  print_dry_run(dump_config_of(config), "sft", start_text(config, inputs, steps_done, dtypes));
}

/// Returns the loss of the last and the first logged step; empty if none is logged.
std::string loss_text(const fs::path& run_directory) {
  const std::vector<MetricsRow> rows = read_valid_metrics(run_directory / kMetricsFile).rows;
  if (rows.empty()) return "";
  const MetricsRow &first = rows.front(), &last = rows.back();
  std::string text = fmt::format("{:.4f} in step {}", last.value_or_zero("loss"), last.step);
  if (first.step < last.step) {
    text += fmt::format(", {:.4f} in step {}", first.value_or_zero("loss"), first.step);
  }
  return text;
}

/// Logs how the run ended after `steps`. Rank 0 only.
void log_end(const SftConfig& config, std::int64_t steps, int signal) {
  const std::string how =
      signal == 0 ? "done: all " + counted(steps, "step")
                  : fmt::format("stopped at step {} by {}; start the same command again to resume",
                                steps, signal_name(signal));
  std::vector<SummaryEntry> entries;
  const std::string loss = loss_text(config.run.directory);
  if (!loss.empty()) entries.push_back({"loss", loss});
  std::ranges::move(checkpoint_entries(config.run.directory), std::back_inserter(entries));
  entries.push_back(next_command_entry("lie_analyze", config.run.directory));
  Log("sft", 0).info("{}", run_summary_text(how, entries));
}

/// Runs supervised fine-tuning with every rank as a learner. The result is the last checkpoint, a
/// Hugging Face model directory under run.directory/checkpoints. With `dry_run` it makes all checks
/// of a start and prints a summary, but neither trains nor writes. Throws Error. Collective over
/// all ranks.
void sft(Job& job, const ConfigArguments& arguments) {
  job.set_role("learner");
  job.set_activity("preparing");
  const SftConfig config = load_sft_config(arguments.config, arguments.overrides);
  const bool is_first = job.rank() == 0;
  if (is_first) check_directory(config);
  const auto world = world_collective(job);
  const auto operators = make_operators(config.model, threads_of_equal_ranks(job, false));
  const SftInputs inputs = read_inputs(config, job.size(), is_first);
  const SftOptions options = with_schedule(config.sft, inputs.train);
  if (is_first) {
    warn_of_common_rows(config, inputs);
    warn_of_schedule(config, options);
  }
  if (arguments.dry_run) {
    if (is_first) print_plan(config, inputs, operators->dtypes());
    return;
  }
  InputRecord record;
  if (is_first) record = record_of(config, inputs);
  std::string base_sha256 = record.weights;
  broadcast_values(*world, base_sha256);
  job.limit_collectives(60 * config.collective_time_limit_minutes);
  const auto learners = device_collective(job, *world, *operators);
  ShardedTrainer trainer(options.trainer, options.optimizer,
                         start_weights(config, *learners, *operators), *learners);
  trainer.weights().set_end_of_sequence_ids(inputs.ends.ids);  // stored in checkpoints
  if (inputs.model.lora) trainer.weights().set_base_sha256(base_sha256);
  std::optional<SftRecorder> recorder;
  if (is_first) {
    const std::int64_t steps_done = begin_run(job, config, record);
    Log("sft", 0).info("{}", start_text(config, inputs, steps_done, operators->dtypes()));
    log_choices(Log("sft", 0), *operators, PassKind::kTraining, inputs.model);
    recorder.emplace(config.run.directory, steps_done);
  }
  job.set_activity("fine-tuning");
  job.end_start();
  note_stop_signals();
  bool is_stopped = false;
  const SftParts parts{.examples = inputs.train,
                       .validation = inputs.held_out,
                       .checkpoints = fs::path(config.run.directory) / kCheckpoints,
                       .start_model = config.model.path,
                       .progress =
                           [&](const SftProgress& progress) {
                             if (recorder) recorder->record(progress);
                           },
                       .stop = [&] { return is_stopped = job.stop_signal() != 0; }};
  const std::int64_t done = run_sft(options, trainer, parts);
  if (!is_first) return;
  log_end(config, done, is_stopped ? job.stop_signal() : 0);
  if (is_stopped) job.set_stopped();
}

}  // namespace

void add_sft(CLI::App& program, JobCommand& chosen) {
  add_config_command(
      program, chosen, "sft",
      "Supervised fine-tuning on prompts and responses, or on conversations; also under mpirun",
      explain_config_of<SftConfig>, sft);
}

}  // namespace lie
