#include "learner/checkpoint/checkpoint_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/identity.h"
#include "common/base/run_files.h"
#include "common/process/log.h"
#include "common/trajectory/segments.h"
#include "learner/checkpoint/checkpoint_directory.h"

namespace lie {
CheckpointRecorder::CheckpointRecorder(CheckpointedRun run, const ShardedTrainer& trainer,
                                       std::optional<CoordinatorState> coordinator)
    : run_(std::move(run)),
      checkpoints_(run_.directory / kCheckpoints),
      trainer_(trainer),
      coordinator_(coordinator),
      recorded_step_(run_.first_step),
      saved_step_(run_.first_step),
      saver_(checkpoints_, run_.checkpoint, trainer.weights(), trainer.learners()) {}

void CheckpointRecorder::record(StepOutcome& step) {
  recorded_step_ = step.step;
  entropy_coefficient_ = step.update.next_entropy_coefficient;
  const CheckpointSchedule schedule{run_.checkpoint.every, run_.last_step};
  if (schedule.due_after(recorded_step_)) save();
  note(saver_.poll());
}

void CheckpointRecorder::close() {
  if (recorded_step_ != saved_step_) save();
  note(saver_.wait());
}

void CheckpointRecorder::save() {
  note(saver_.wait());
  saved_step_ = recorded_step_;
  CheckpointContents contents{.weights = trainer_.weights(), .optimizer = trainer_.optimizer()};
  contents.state.step = contents.state.policy_version = recorded_step_;
  if (!coordinator_) return saver_.save(contents, {});
  contents.state.seed = run_.seed;
  contents.state.build_id = build_id();
  contents.state.entropy_coefficient = entropy_coefficient_;
  contents.state.prompt_stream = coordinator_->prompts.state();
  contents.start_model = run_.model;
  contents.extra = &coordinator_->coverage;
  coordinator_->stop.begins_saving();
  saver_.save(contents, [this] {
    remove_old_checkpoints(checkpoints_, run_.checkpoint.keep_last, best_step());
  });
}

/// Reports a checkpoint that is in place, and removes the trajectories that it makes obsolete.
void CheckpointRecorder::note(const std::optional<SavingSeconds>& saved) {
  if (!saved || !coordinator_) return;
  coordinator_->stop.saved_in(saved->all);
  if (saved_step_ < run_.last_step) {  // the end of the run reports the last one
    constexpr double kShown_seconds = 0.05;
    std::string text = fmt::format("step {} is saved", saved_step_);
    if (saved->all >= kShown_seconds) text += fmt::format(": {:.1f} s", saved->all);
    if (saved->waited >= kShown_seconds) {
      text += fmt::format(", of which training waited {:.1f} s", saved->waited);
    }
    Log("learner", 0).info("{}", text);
  }
  if (run_.keep_log_steps > 0) {
    remove_segments_up_to(run_.directory / kTrajectories, saved_step_ - run_.keep_log_steps);
  }
}

/// Returns the best saved step by the metrics up to this step, which earlier recorders have
/// written.
std::optional<std::int64_t> CheckpointRecorder::best_step() const {
  const std::string& metric = run_.best.keep_best;
  if (metric.empty()) return {};
  const auto step = best_saved_step(run_.directory, metric);
  const Log log("learner", 0);
  if (!step) {
    log.warn("no saved step has been evaluated by {}: checkpoint.keep_best keeps none yet", metric);
  } else if (*step == saved_step_) {
    log.info("step {} has the best {} so far: its checkpoint stays", *step, metric);
  }
  return step;
}

}  // namespace lie
