#include "learner/checkpoint_saver.h"

#include <chrono>
#include <span>
#include <utility>

#include "common/clock.h"
#include "common/log.h"
#include "learner/run_coverage.h"

namespace lie {
namespace {

void copy_to_host(Operators& operators, Tensor from, Tensor to) {
  operators.copy_to_host(from,
                         {static_cast<float*>(to.data), static_cast<std::size_t>(to.elements())});
}

}  // namespace

/// The contents of a checkpoint in memory of their own, under operators that only the thread that
/// writes calls.
class CheckpointSaver::Copy {
 public:
  Copy(const Weights& weights, const AdamW& optimizer)
      : weights_(weights.config(), *host_, weights.shard()),
        optimizer_({}, *host_, weights.parameters(), optimizer.shard()) {}

  CheckpointContents of(const CheckpointContents& live) {
    Operators& operators = live.weights.operators();
    copy_to_host(operators, live.weights.flat(), weights_.flat());
    copy_to_host(operators, live.optimizer.first_moment(), optimizer_.first_moment());
    copy_to_host(operators, live.optimizer.second_moment(), optimizer_.second_moment());
    optimizer_.restore_counts(live.optimizer.updates(), live.optimizer.skipped());
    coverage_.reset();
    if (live.coverage) coverage_ = live.coverage->of_run();
    return {weights_, optimizer_, live.state, live.start_model, coverage_ ? &*coverage_ : nullptr};
  }

 private:
  std::unique_ptr<Operators> host_ = make_cpu_operators(1);
  Weights weights_;
  AdamW optimizer_;
  std::optional<RunCoverage> coverage_;
};

CheckpointSaver::CheckpointSaver(std::filesystem::path checkpoints,
                                 const CheckpointOptions& options, const Weights& weights,
                                 const AdamW& optimizer)
    : checkpoints_(std::move(checkpoints)) {
  if (options.background && options.every > 0) copy_ = std::make_unique<Copy>(weights, optimizer);
}

/// Waits: the thread uses what is destroyed next. Only a run that fails has not waited before.
CheckpointSaver::~CheckpointSaver() {
  if (!writing_.valid()) return;
  Log("learner", 0)
      .warn("training failed; the checkpoint that is being written is completed first");
}

void CheckpointSaver::save(const CheckpointContents& contents, std::function<void()> afterwards) {
  wait();
  const Timed timed(waited_);
  const auto write = [this, watch = Stopwatch(),
                      then = std::move(afterwards)](const CheckpointContents& these) {
    save_checkpoint(checkpoints_, these);
    then();
    return watch.seconds();
  };
  const auto launch = copy_ ? std::launch::async : std::launch::deferred;
  writing_ = std::async(launch, write, copy_ ? copy_->of(contents) : contents);
  if (!copy_) writing_.wait();
}

std::optional<SavingSeconds> CheckpointSaver::poll() {
  if (!writing_.valid() || writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return {};
  return wait();
}

std::optional<SavingSeconds> CheckpointSaver::wait() {
  if (!writing_.valid()) return {};
  {
    const Timed timed(waited_);
    writing_.wait();
  }
  const double waited = std::exchange(waited_, 0);
  return SavingSeconds{.all = writing_.get(), .waited = waited};
}

}  // namespace lie
