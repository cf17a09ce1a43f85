#include "learner/sft/sft.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/comm/collective/collective.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/checkpoint_recorder.h"
#include "learner/sft/sft_batches.h"
#include "learner/trainer/packing.h"
#include "learner/trainer/shared_values.h"
#include "model/transformer/transformer.h"

namespace lie {
namespace {

std::vector<SequenceTokens> sequences_of(std::span<const SftExample> examples,
                                         std::span<const std::size_t> chosen) {
  std::vector<SequenceTokens> sequences;
  for (const std::size_t i : chosen) {
    sequences.push_back({examples[i].prompt, examples[i].response});
  }
  return sequences;
}

std::int64_t response_tokens(std::span<const SequenceTokens> sequences) {
  std::int64_t tokens = 0;
  for (const auto& s : sequences) tokens += static_cast<std::int64_t>(s.response.size());
  return tokens;
}

double negative_sum(std::span<const float> log_probs) {
  double sum = 0;
  for (const float value : log_probs) sum -= static_cast<double>(value);
  return sum;
}

/// The state of one run. Its methods are the steps of the loop in run_sft().
class Tuner {
 public:
  Tuner(const SftOptions& options, ShardedTrainer& trainer, const SftParts& parts)
      : options_(options), trainer_(trainer), parts_(parts) {
    if (parts.checkpoints.empty()) return;
    saver_.emplace(parts.checkpoints, options_.checkpoint, trainer.weights(), trainer.learners());
  }

  std::int64_t steps() const { return options_.steps; }

  std::int64_t resume() {
    const auto checkpoint = shared_checkpoint();
    if (!checkpoint) return 0;
    const TrainerState state = load_checkpoint(*checkpoint, trainer_);
    if (state.seed != static_cast<std::uint64_t>(options_.seed)) {
      fail("{}: was made with seed {}, but this run has {}; use that seed or another run directory",
           checkpoint->string(), state.seed, options_.seed);
    }
    return state.step;
  }

  SftProgress update(std::int64_t step) {
    const Stopwatch watch;
    const auto sequences = sequences_of(parts_.examples, batch_of(step));
    SftProgress progress;
    progress.step = step;
    progress.steps = options_.steps;
    progress.tokens = response_tokens(sequences);
    const double tokens = static_cast<double>(progress.tokens);
    const double divisor =
        options_.loss == SftLoss::kTokenMean ? tokens : options_.constant_divisor;
    progress.loss = accumulate(sequences, 1.0 / divisor) / tokens;
    TrainerSeconds unreported;
    progress.optimizer = trainer_.update(step, unreported);
    progress.seconds = watch.seconds();
    return progress;
  }

  void validate(SftProgress& progress) {
    const bool due = options_.validate_every > 0 && progress.step % options_.validate_every == 0;
    if (parts_.validation.empty() || !(due || progress.step == options_.steps)) return;
    std::vector<std::size_t> all(parts_.validation.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    progress.validation_loss = mean_loss(sequences_of(parts_.validation, all));
  }

  /// Throws Error, on all learners alike, if a loss or the gradient norm is not finite.
  void require_no_divergence(const SftProgress& progress) {
    std::vector<double> values = {progress.loss, progress.optimizer.grad_norm,
                                  progress.validation_loss.value_or(0)};
    // The effect of the last update is not visible in any later step, so its loss is computed here.
    if (progress.step == options_.steps) {
      values.push_back(mean_loss(sequences_of(parts_.examples, batch_of(progress.step))));
    }
    if (std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) return;
    fail(
        "the run has diverged: the loss or gradient of step {} is not finite, and its weights are "
        "not saved; lower optimizer.learning_rate (now {}) or start from valid weights, in another "
        "run.directory",
        progress.step, options_.optimizer.learning_rate);
  }

  /// Returns the decision of learner 0.
  bool is_stopped() const {
    std::uint8_t stop = parts_.stop && parts_.stop();
    broadcast_value(trainer_.learners(), stop);
    return stop != 0;
  }

  /// Saves a checkpoint if one is due. Throws the error of an earlier save that failed.
  void save(std::int64_t step, bool is_last) {
    if (!saver_) return;
    const CheckpointSchedule schedule{options_.checkpoint.every, options_.steps};
    if (is_last || schedule.due_after(step)) begin_save(step);
    saver_->poll();
  }

  /// Waits until the last checkpoint is complete.
  void finish() {
    if (saver_) saver_->wait();
  }

 private:
  /// Returns the last checkpoint that learner 0 finds. On a network file system other ranks may
  /// still see an older state of the directory.
  std::optional<std::filesystem::path> shared_checkpoint() const {
    std::int64_t step = 0;
    if (trainer_.learners().rank() == 0 && !parts_.checkpoints.empty()) {
      const auto latest = latest_checkpoint(parts_.checkpoints);
      if (latest) step = load_trainer_state(*latest).step;
    }
    broadcast_value(trainer_.learners(), step);
    if (step == 0) return std::nullopt;
    return checkpoint_path(parts_.checkpoints, step);
  }

  const std::vector<std::size_t>& batch_of(std::int64_t step) {
    while (step - first_step_ > static_cast<std::int64_t>(batches_.size())) {
      first_step_ += static_cast<std::int64_t>(batches_.size());
      batches_ = sft_batches(parts_.examples, options_, ++epoch_);
    }
    return batches_[static_cast<std::size_t>(step - first_step_ - 1)];
  }

  /// Returns the sum of the gradient shards' losses over all learners, added in ascending order.
  double sum_of(const PackedGradientShards& shards, std::vector<double> by_shard) const {
    share_gradient_shards(trainer_.learners(), shards.own_shards, std::span(by_shard));
    return std::accumulate(by_shard.begin(), by_shard.end(), 0.0);
  }

  /// Runs forward and backward over this learner's micro-batches, with the same weight for the loss
  /// of each token. Returns the unweighted loss summed over all learners.
  double accumulate(std::span<const SequenceTokens> sequences, double weight) {
    const PackedGradientShards shards = trainer_.pack(sequences);
    std::vector<double> loss(static_cast<std::size_t>(shards.count));
    trainer_.accumulate_gradient(shards, [&](const MicroBatchWork& work) {
      const PackedBatch& packed = work.batch.packed;
      const RowLogProbs rows = work.policy.forward(packed, 1.0F, true);
      const std::vector<float> d_log_probs(rows.log_probs.size(), static_cast<float>(-weight));
      const std::vector<float> d_entropies(rows.log_probs.size(), 0.0F);
      work.policy.backward(packed, d_log_probs, d_entropies, *work.gradient);
      loss[static_cast<std::size_t>(work.shard)] += negative_sum(rows.log_probs);
    });
    return sum_of(shards, std::move(loss));
  }

  /// Returns the mean loss of all response tokens.
  double mean_loss(std::span<const SequenceTokens> sequences) {
    const PackedGradientShards shards = trainer_.pack(sequences);
    std::vector<double> loss(static_cast<std::size_t>(shards.count));
    trainer_.for_each_micro_batch(shards, [&](const MicroBatchWork& work) {
      const RowLogProbs rows = work.policy.forward(work.batch.packed, 1.0F, false);
      loss[static_cast<std::size_t>(work.shard)] += negative_sum(rows.log_probs);
    });
    return sum_of(shards, std::move(loss)) / static_cast<double>(response_tokens(sequences));
  }

  void begin_save(std::int64_t step) {
    TrainerState state;
    state.step = state.policy_version = step;
    state.seed = static_cast<std::uint64_t>(options_.seed);
    state.build_id = build_id();
    saver_->save({trainer_.weights(), trainer_.optimizer(), state, parts_.start_model}, [this] {
      remove_old_checkpoints(parts_.checkpoints, options_.checkpoint.keep_last);
    });
  }

  const SftOptions& options_;
  ShardedTrainer& trainer_;
  const SftParts& parts_;
  std::vector<std::vector<std::size_t>> batches_;  // of the current epoch
  std::int64_t epoch_ = -1;
  std::int64_t first_step_ = 0;  // of the current epoch
  std::optional<CheckpointSaver> saver_;
};

}  // namespace

std::int64_t run_sft(const SftOptions& options, ShardedTrainer& trainer, const SftParts& parts) {
  if (parts.examples.empty()) fail("data.train_file: no examples; name a file with rows");
  Tuner tuner(options, trainer, parts);
  std::int64_t step = tuner.resume();
  for (bool is_stopped = false; step < tuner.steps() && !is_stopped;) {
    ++step;
    SftProgress progress = tuner.update(step);
    tuner.validate(progress);
    tuner.require_no_divergence(progress);
    is_stopped = step < tuner.steps() && tuner.is_stopped();
    tuner.save(step, is_stopped);
    if (parts.progress) parts.progress(progress);
  }
  tuner.finish();
  return step;
}

}  // namespace lie
