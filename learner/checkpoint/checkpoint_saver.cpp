#include "learner/checkpoint/checkpoint_saver.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "common/process/log.h"

namespace lie {
namespace {

std::span<float> floats(Tensor x) {
  return {static_cast<float*>(x.data), static_cast<std::size_t>(x.elements())};
}

template <typename Value>
bool is_ready(const std::future<Value>& value) {
  return value.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

/// A copy of a part's contents in host memory. Only the thread that writes uses its operators.
class CheckpointSaver::Copy {
 public:
  Copy(const Weights& weights, const CheckpointPart& part)
      : weights_(weights.config(), *host_, part.weights.range),
        optimizer_({}, weights_, part.moments.range) {}

  CheckpointContents of(const CheckpointContents& live) {
    Operators& operators = live.weights.operators();
    operators.copy_to_host(live.weights.elements(weights_.shard()), floats(weights_.flat()));
    Operators& moments = live.optimizer.moment_operators();
    moments.copy_to_host(live.optimizer.first_moment(), floats(optimizer_.first_moment()));
    moments.copy_to_host(live.optimizer.second_moment(), floats(optimizer_.second_moment()));
    optimizer_.restore_counts(live.optimizer.updates(), live.optimizer.skipped());
    extra_ = live.extra != nullptr ? live.extra->copy() : nullptr;
    return {weights_, optimizer_, live.state, live.start_model, extra_.get()};
  }
  /// Frees what `extra` held, which may be large, until the next copy.
  void release_extra() { extra_.reset(); }

 private:
  std::unique_ptr<Operators> host_ = make_cpu_operators(1);
  Weights weights_;
  AdamW optimizer_;
  std::unique_ptr<CheckpointExtra> extra_;
};

CheckpointSaver::CheckpointSaver(std::filesystem::path checkpoints,
                                 const CheckpointOptions& options, const Weights& weights,
                                 Collective& learners)
    : checkpoints_(std::move(checkpoints)),
      learners_(learners),
      in_background_(options.background && options.every > 0),
      parts_(checkpoint_parts(weights.parameters(), learners.size())) {
  if (!in_background_) return;
  copy_ = std::make_unique<Copy>(weights, parts_[static_cast<std::size_t>(learners.rank())]);
}

/// The thread uses members that are destroyed next. It may still be running only if the run has
/// failed.
CheckpointSaver::~CheckpointSaver() {
  if (!writing_.valid() || !is_first()) return;
  Log("learner", 0)
      .warn("training failed; the checkpoint that is being written is {}",
            awaits_parts_ ? "abandoned: it lacks the parts of other learners" : "completed first");
}

void CheckpointSaver::save(const CheckpointContents& contents, std::function<void()> afterwards) {
  wait();
  const Timed timed(waited_);
  const Stopwatch watch;
  step_ = contents.state.step;
  afterwards_ = std::move(afterwards);
  if (is_first()) begin_checkpoint(checkpoints_, step_);
  std::uint8_t has_begun = 1;
  broadcast_value(learners_, has_begun);
  if (!in_background_) {
    Written parts = gather(write_part(contents, watch));
    std::promise<Written> written;
    written.set_value(is_first() ? complete(std::move(parts)) : parts);
    writing_ = written.get_future();
    return;
  }
  awaits_parts_ = learners_.size() > 1;
  writing_ = std::async(std::launch::async, [this, copy = copy_->of(contents), watch] {
    Written part = write_part(copy, watch);
    copy_->release_extra();
    return learners_.size() > 1 ? part : complete(std::move(part));
  });
}

CheckpointSaver::Written CheckpointSaver::write_part(const CheckpointContents& contents,
                                                     const Stopwatch& watch) const {
  std::string lines = write_checkpoint_part(checkpoints_, contents, parts_, learners_.rank());
  return {std::move(lines), watch.seconds()};
}

CheckpointSaver::Written CheckpointSaver::complete(Written parts) const {
  const Stopwatch watch;
  complete_checkpoint(checkpoints_, step_, parts.checksums);
  afterwards_();
  parts.seconds += watch.seconds();
  return parts;
}

CheckpointSaver::Written CheckpointSaver::gather(Written own) {
  Written all;
  for (int learner = 0; learner < learners_.size(); ++learner) {
    Written part = learner == learners_.rank() ? own : Written();
    broadcast_values(learners_, part.checksums, learner);
    broadcast_value(learners_, part.seconds, learner);
    all.checksums += part.checksums;
    all.seconds = std::max(all.seconds, part.seconds);
  }
  return all;
}

/// Lets learner 0 complete the checkpoint once all parts are written. Collective: the learners
/// agree on whether all parts are written.
void CheckpointSaver::share_written(bool waits) {
  if (!awaits_parts_) return;
  if (waits) writing_.wait();
  double missing = is_ready(writing_) ? 0 : 1;
  learners_.all_reduce_sum(std::span(&missing, 1));
  if (missing > 0) return;
  awaits_parts_ = false;
  Written parts = gather(writing_.get());
  if (!is_first()) return;
  writing_ = std::async(std::launch::async, [this, parts = std::move(parts)]() mutable {
    return complete(std::move(parts));
  });
}

std::optional<SavingSeconds> CheckpointSaver::poll() {
  share_written(false);
  if (awaits_parts_ || !writing_.valid() || !is_ready(writing_)) return {};
  return wait();
}

std::optional<SavingSeconds> CheckpointSaver::wait() {
  if (!writing_.valid()) return {};
  {
    const Timed timed(waited_);
    share_written(true);
    if (writing_.valid()) writing_.wait();
  }
  const double waited = std::exchange(waited_, 0);
  if (!writing_.valid()) return {};
  return SavingSeconds{.all = writing_.get().seconds, .waited = waited};
}

}  // namespace lie
