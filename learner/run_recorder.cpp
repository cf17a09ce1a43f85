#include "learner/run_recorder.h"

#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace lie {
namespace {

std::vector<Scalar> scalars_of(const MetricsRow& row) {
  std::vector<Scalar> scalars;
  for (const auto& [name, value] : row.values) {
    if (std::isfinite(value)) scalars.push_back({name, value});
  }
  return scalars;
}

/// A run that begins again, because it was killed before its first checkpoint, begins its curves
/// again; one that goes on tells TensorBoard so.
std::filesystem::path event_directory(const std::filesystem::path& run_directory,
                                      std::int64_t last_step) {
  const auto directory = run_directory / "tensorboard";
  if (last_step < 0) std::filesystem::remove_all(directory);
  return directory;
}

std::optional<double> find_value(const MetricsRow& row, std::string_view name) {
  for (const auto& [key, value] : row.values) {
    if (key == name) return value;
  }
  return {};
}

double value_or_zero(const MetricsRow& row, std::string_view name) {
  return find_value(row, name).value_or(0);
}

}  // namespace

CurveRecorder::CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                             std::int64_t steps)
    : log_(run_directory / "metrics.jsonl", last_step),
      events_(event_directory(run_directory, last_step), last_step + 1),
      progress_(stderr),
      steps_(steps) {}

void CurveRecorder::record(const MetricsRow& row) {
  log_.append(row);
  events_.write(row.step, scalars_of(row));
  if (row.step > 0) show_step(row);
  if (find_value(row, "eval_accuracy")) show_evaluation(row);
}

void CurveRecorder::show_step(const MetricsRow& row) {
  progress_.show(StepProgress{.step = row.step,
                              .steps = steps_,
                              .accuracy = value_or_zero(row, "accuracy"),
                              .response_length_mean = value_or_zero(row, "response_length_mean"),
                              .c_context_mean = value_or_zero(row, "c_context_mean"),
                              .tokens_per_second = value_or_zero(row, "tokens_per_second"),
                              .step_seconds = value_or_zero(row, "step_seconds")});
}

void CurveRecorder::show_evaluation(const MetricsRow& row) {
  progress_.show(
      EvaluationProgress{.step = row.step,
                         .steps = steps_,
                         .accuracy = value_or_zero(row, "eval_accuracy"),
                         .response_length_mean = value_or_zero(row, "eval_response_length_mean"),
                         .c_context_mean = value_or_zero(row, "eval_c_context_mean")});
}

TrajectoryRecorder::TrajectoryRecorder(std::filesystem::path directory, TrajectoryInfo info)
    : directory_(std::move(directory)),
      info_(std::move(info)),
      last_step_(info_.starts_after_step) {}

void TrajectoryRecorder::record(StepRecord record, const std::vector<std::string>& numbers) {
  wait();
  add_columns(numbers);
  if (record.step == 0) {
    start_ = std::move(record);
    return;
  }
  open();
  last_step_ = record.step;
  writing_ =
      std::async(std::launch::async, [this, step = std::move(record)] { writer_->append(step); });
}

void TrajectoryRecorder::open() {
  if (!writer_) writer_ = std::make_unique<TrajectoryWriter>(directory_, info_);
  if (start_) writer_->append(*start_);
  start_.reset();
}

void TrajectoryRecorder::add_columns(const std::vector<std::string>& numbers) {
  std::set<std::string> all(info_.numbers.begin(), info_.numbers.end());
  all.insert(numbers.begin(), numbers.end());
  if (all.size() == info_.numbers.size()) return;
  if (writer_) cut_after(last_step_);
  info_.numbers.assign(all.begin(), all.end());
}

void TrajectoryRecorder::wait() {
  if (writing_.valid()) writing_.get();
}

void TrajectoryRecorder::close() {
  wait();
  if (start_) open();
  if (writer_) writer_->close();
}

void TrajectoryRecorder::cut_after(std::int64_t step) {
  close();
  info_.starts_after_step = step;
  writer_.reset();
}

}  // namespace lie
