#include "learner/checkpoint_saver.h"

#include <chrono>
#include <span>
#include <utility>

#include "common/clock.h"
#include "common/log.h"
#include "learner/run_coverage.h"
#include "learner/shards.h"

namespace lie {
namespace {

std::span<float> floats(Tensor x) {
  return {static_cast<float*>(x.data), static_cast<std::size_t>(x.elements())};
}

/// Both ends: what learner 0 gets whole; the others have empty spans.
void gather_moments(Collective& learners, const Weights& weights, const AdamW& optimizer,
                    std::span<float> first, std::span<float> second) {
  const std::int64_t elements = weights.flat().elements();
  Operators& operators = weights.operators();
  gather_on_first(learners, operators, optimizer.first_moment(), elements, first);
  gather_on_first(learners, operators, optimizer.second_moment(), elements, second);
}

}  // namespace

/// The contents of a checkpoint in memory of their own, under operators that only the thread that
/// writes calls.
class CheckpointSaver::Copy {
 public:
  explicit Copy(const Weights& weights)
      : weights_(weights.config(), *host_), optimizer_({}, weights_) {}

  CheckpointContents of(const CheckpointContents& live, Collective& learners) {
    live.weights.operators().copy_to_host(live.weights.flat(), floats(weights_.flat()));
    gather_moments(learners, live.weights, live.optimizer, floats(optimizer_.first_moment()),
                   floats(optimizer_.second_moment()));
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
                                 Collective& learners)
    : checkpoints_(std::move(checkpoints)),
      learners_(learners),
      in_background_(options.background && options.every > 0) {
  if (in_background_) copy_ = std::make_unique<Copy>(weights);
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
  if (!copy_ && learners_.size() > 1) copy_ = std::make_unique<Copy>(contents.weights);
  const auto launch = in_background_ ? std::launch::async : std::launch::deferred;
  writing_ = std::async(launch, write, copy_ ? copy_->of(contents, learners_) : contents);
  if (in_background_) return;
  writing_.wait();
  copy_.reset();
}

void send_moments(Collective& learners, const Weights& weights, const AdamW& optimizer) {
  gather_moments(learners, weights, optimizer, {}, {});
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
