#include "tools/run/start/start_messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/run_files.h"
#include "common/comm/role_table.h"
#include "common/io/metrics_log.h"
#include "common/process/log.h"
#include "common/process/progress.h"
#include "common/text/counted.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/role_memory.h"
#include "tools/run/start/run_summary.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

std::vector<SummaryEntry> data_entries(const TrainConfig& config, const PreparedRun& run) {
  std::vector<SummaryEntry> entries = {
      {"data",
       fmt::format("{} of {}", counted(std::ssize(run.inputs.prompts.training.prompts), "prompt"),
                   fmt::join(config.data.train_file, ", "))}};
  if (config.evaluation.every > 0) {
    entries.push_back(
        {"evaluation",
         fmt::format("{} of {}", counted(std::ssize(run.inputs.prompts.evaluation), "prompt"),
                     fmt::join(config.data.evaluation_file, ", "))});
  }
  std::ranges::move(
      text_entries(config.data, config.model.path, config.rollout, run.inputs.ends.text),
      std::back_inserter(entries));
  return entries;
}

std::string indented(const std::string& table) {
  std::istringstream rows(table);
  std::string text;
  for (std::string row; std::getline(rows, row);) text += "\n  " + row;
  return text;
}

/// Returns entries on the time that the steps took and on the evaluations, as far as the metrics
/// hold them.
std::vector<SummaryEntry> result_entries(std::span<const MetricsRow> rows) {
  double seconds = 0;
  std::vector<const MetricsRow*> evaluations;
  for (const MetricsRow& row : rows) {
    seconds += row.value_or_zero("step_seconds");
    if (row.find("eval_accuracy")) evaluations.push_back(&row);
  }
  std::vector<SummaryEntry> entries = {{"time", duration_text(seconds) + " in steps"}};
  if (evaluations.empty()) return entries;
  const MetricsRow &first = *evaluations.front(), &last = *evaluations.back();
  std::string accuracy =
      fmt::format("accuracy {:.3f} after step {}", last.value_or_zero("eval_accuracy"), last.step);
  if (first.step < last.step) {
    accuracy +=
        fmt::format(", {:.3f} after step {}", first.value_or_zero("eval_accuracy"), first.step);
  }
  entries.push_back({"held out", accuracy});
  return entries;
}

/// Returns what a finished run has: all steps, or those until run.stop_when was met.
std::string steps_text(const TrainConfig& config, const RunStart& start) {
  const std::int64_t steps = config.run.steps;
  if (start.step > start.last_step) {
    return fmt::format("{}; with the present settings it ends after step {}",
                       counted(start.step, "step"), start.last_step);
  }
  if (start.last_step >= steps) return "all " + counted(steps, "step");
  return fmt::format("{} of {}, until {}", start.last_step, counted(steps, "step"),
                     config.run.stop_when);
}

/// Returns the summary of where a run's results are, with the command to type next.
std::string end_text(const TrainConfig& config, std::string_view how) {
  const fs::path directory = config.run.directory;
  const MetricsFile metrics = read_valid_metrics(directory / kMetricsFile);
  std::vector<SummaryEntry> entries = result_entries(metrics.rows);
  std::ranges::copy(checkpoint_entries(directory), std::back_inserter(entries));
  const std::string& kept = config.best_checkpoint.keep_best;
  const std::string metric = kept.empty() ? "eval_accuracy" : kept;
  const auto best = metrics.damage.empty() ? best_saved_step(directory, metric) : std::nullopt;
  if (best) entries.push_back({"best", fmt::format("step {} by {}", *best, metric)});
  entries.push_back({"trajectories", (directory / kTrajectories).string()});
  entries.push_back(next_command_entry("lie_analyze", directory.string()));
  return run_summary_text(how, entries);
}

}  // namespace

std::string start_text(const TrainConfig& config, const PreparedRun& run,
                       const RoleLayout& layout) {
  if (is_finished(run.start)) {
    return end_text(config, fmt::format("{} is finished: it has {}", config.run.directory,
                                        steps_text(config, run.start)));
  }
  std::vector<SummaryEntry> entries;
  if (run.start.from_checkpoint) entries.push_back({"from", run.start.model_directory.string()});
  entries.push_back(model_entry(config.model.path, run.inputs.model.parameters));
  if (run.inputs.model.config.lora) {
    entries.push_back(adapter_entry(config.model, run.inputs.model.config));
  }
  if (const std::string teacher = teacher_of(config.policy_loss); !teacher.empty()) {
    entries.push_back({"teacher", teacher});
  }
  if (config.weight_sync.weights == DType::kBFloat16) {
    entries.push_back(
        {"weights", "rounded to bfloat16 for the actors: their policy differs from the learner's"});
  }
  std::ranges::copy(data_entries(config, run), std::back_inserter(entries));
  entries.push_back(
      memory_entry(memory_of_roles(config, run.inputs.model.config, run.inputs.dtypes, layout)));
  if (!layout.actors.empty()) {
    entries.back().value +=
        cache_text(run.inputs.model.config, run.inputs.dtypes.packed, config.rollout);
  }
  const bool resumes = run.start.from_checkpoint || run.start.logged_step > 0;
  const std::string head =
      run_headline(config.run.directory, resumes ? std::optional(run.start.step) : std::nullopt,
                   counted(config.run.steps, "step"));
  return run_summary_text(head, entries) + indented(role_table(layout, config.model.threads));
}

void end_run(Job& job, const TrainConfig& config, const RunStart& start, const EarlyStop& stop) {
  const bool is_stopped = !stop.reason().empty() && !stop.has_reached_goal();
  if (job.rank() == 0) {
    std::string how = stop.reason();
    if (is_stopped) how += "; start the same command again to resume";
    if (how.empty()) how = "done: " + steps_text(config, start);
    Log("learner", 0).info("{}", end_text(config, how));
  }
  if (is_stopped) job.set_stopped();
}

}  // namespace lie
