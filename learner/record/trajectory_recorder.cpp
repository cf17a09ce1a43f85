#include "learner/record/trajectory_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/trajectory/segments.h"
#include "learner/record/step_metrics.h"
#include "learner/schedule/open_groups.h"

namespace lie {
namespace {

/// Numbers a group by its position in the step that trains on it, and notes the step that drew it.
void renumber(std::int64_t step, std::size_t number, GroupRecord& group) {
  Ticket& ticket = group.scored.rollout.ticket;
  group.drawn = drawn_as(ticket);
  ticket.step = step;
  ticket.group = static_cast<std::int64_t>(number);
}

/// Returns the part of a step that this learner writes.
StepRecord share_of_learner(const StepOutcome& step, const Collective& learners, bool renumbers) {
  StepRecord record{.step = step.step,
                    .groups = {},
                    .seconds = step.seconds.all(),
                    .generate_seconds = step.seconds.generate,
                    .update_seconds = step.seconds.update};
  const auto count = static_cast<std::size_t>(learners.size());
  for (auto i = static_cast<std::size_t>(learners.rank()); i < step.groups.size(); i += count) {
    record.groups.push_back({.scored = step.groups[i], .results = step.update.responses[i]});
    if (renumbers) renumber(step.step, i, record.groups.back());
  }
  for (const auto* untrained : {&step.dropped, &step.evaluation}) {
    for (const ScoredGroup& group : *untrained) {
      record.groups.push_back({.scored = group, .results = {}});
    }
  }
  return record;
}

}  // namespace

void describe(FieldList& fields, TrajectoryOptions& options) {
  fields.add(
      "keep_last_steps", options.keep_last_steps,
      {"After a checkpoint, delete the trajectory files whose steps are all at least this many "
       "steps before it. They cannot be recovered. 0: keep all. Leave alone unless disk space is "
       "short.",
       "steps", 0});
}

TrajectoryRecorder::TrajectoryRecorder(std::filesystem::path directory, TrajectoryInfo info,
                                       const CheckpointSchedule& checkpoints, Collective& learners)
    : directory_(std::move(directory)),
      info_(std::move(info)),
      checkpoints_(checkpoints),
      learners_(learners),
      last_step_(info_.starts_after_step) {}

void TrajectoryRecorder::record(StepOutcome& step) {
  if (is_logged(step.step)) return;
  if (step.step > 0 || !step.evaluation.empty()) {
    const Timed timed(step.seconds.log);
    numbers_.merge(number_names(step.groups));
    numbers_.merge(number_names(step.dropped));
    numbers_.merge(number_names(step.evaluation));
    wait();
    write(share_of_learner(step, learners_, info_.drawn_groups));
  }
  if (!checkpoints_.due_after(step.step)) return;
  close();
  info_.starts_after_step = step.step;
}

/// Returns whether the log holds the step. Step 0 is in the log if step 1 is.
bool TrajectoryRecorder::is_logged(std::int64_t step) const {
  return step <= last_step_ && last_step_ > 0;
}

void TrajectoryRecorder::close() {
  close_segment();
  double all_closed = 0;
  learners_.all_reduce_sum(std::span(&all_closed, 1));  // a barrier
  if (learners_.rank() == 0) update_index(directory_, last_step_);
}

void TrajectoryRecorder::write(StepRecord record) {
  if (record.step == 0) {
    start_ = std::move(record);
    return;
  }
  add_columns();
  open();
  last_step_ = record.step;
  writing_ =
      std::async(std::launch::async, [this, step = std::move(record)] { writer_->append(step); });
}

/// Starts a new segment if there are new program numbers. All learners start segments together, so
/// each needs the names of learner 0, the only one that has the evaluations.
void TrajectoryRecorder::add_columns() {
  if (learners_.size() > 1) share_numbers();
  if (numbers_.size() == info_.numbers.size()) return;
  if (writer_) end_segment(last_step_);
  info_.numbers.assign(numbers_.begin(), numbers_.end());
}

void TrajectoryRecorder::share_numbers() {
  std::string lines = fmt::format("{}", fmt::join(numbers_, "\n"));
  broadcast_values(learners_, lines);
  std::istringstream names(lines);
  for (std::string name; std::getline(names, name);) numbers_.insert(name);
}

void TrajectoryRecorder::open() {
  if (!writer_) writer_ = std::make_unique<TrajectoryWriter>(directory_, info_);
  if (start_) writer_->append(*start_);
  start_.reset();
}

void TrajectoryRecorder::end_segment(std::int64_t step) {
  close_segment();
  info_.starts_after_step = step;
}

void TrajectoryRecorder::wait() {
  if (writing_.valid()) writing_.get();
}

void TrajectoryRecorder::close_segment() {
  wait();
  if (start_) open();
  if (!writer_) return;
  writer_->close();
  writer_.reset();
}

}  // namespace lie
