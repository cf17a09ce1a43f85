#include "learner/sft/sft.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/checkpoint_recorder.h"
#include "learner/update/batch.h"
#include "learner/update/gradient_shards.h"

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

PackedShards own_shards(std::span<const SequenceTokens> sequences, const Collective& learners,
                        const SftOptions& options) {
  return pack_shards(sequences, options.gradient_shards, options.max_micro_batch_tokens,
                     learners.rank(), learners.size());
}

/// The state of one run. Its methods are the steps of the loop in run_sft().
class Tuner {
 public:
  Tuner(const SftOptions& options, const SftParts& parts)
      : options_(with_schedule(options, parts)),
        parts_(parts),
        optimizer_(options_.optimizer, parts.weights, own_shard(parts.weights, parts.learners)),
        gradient_(parts.weights.operators(), parts.learners,
                  flat_elements(parts.weights.parameters()), options_.gradient_shards,
                  "update.gradient_shards"),
        policies_(gradient_.workers(), parts.model, options_.activation_mebibytes << 20) {
    check_options(options_.optimizer);
    options_.max_micro_batch_tokens = gradient_.pass_tokens(options_.max_micro_batch_tokens);
    if (parts.learners.size() > 1) share();
    if (parts.checkpoints.empty()) return;
    saver_.emplace(parts.checkpoints, options_.checkpoint, parts.weights, parts.learners);
  }

  std::int64_t steps() const { return options_.steps; }

  std::int64_t resume() {
    const auto checkpoint = shared_checkpoint();
    if (!checkpoint) return 0;
    const TrainerState state = load_checkpoint(*checkpoint, parts_.weights, optimizer_);
    if (state.seed != static_cast<std::uint64_t>(options_.seed)) {
      fail("{}: was made with seed {}, but this run has {}; use that seed or another run directory",
           checkpoint->string(), state.seed, options_.seed);
    }
    share();
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
    progress.loss = run_shards(sequences, 1.0 / divisor) / tokens;
    progress.optimizer =
        update_shard(parts_.learners, optimizer_, step, gradient_.sum(), parts_.weights);
    share();
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
    broadcast_value(parts_.learners, stop);
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
  /// Sets the options that depend on the data: the number of steps and the end of the cosine.
  static SftOptions with_schedule(SftOptions options, const SftParts& parts) {
    if (options.steps == 0) {
      for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        options.steps +=
            static_cast<std::int64_t>(sft_batches(parts.examples, options, epoch).size());
      }
    }
    if (options.optimizer.schedule == Schedule::kCosine && options.optimizer.decay_until == 0) {
      options.optimizer.decay_until = options.steps;
    }
    return options;
  }

  /// Returns the last checkpoint that learner 0 finds. On a network file system other ranks may
  /// still see an older state of the directory.
  std::optional<std::filesystem::path> shared_checkpoint() const {
    std::int64_t step = 0;
    if (parts_.learners.rank() == 0 && !parts_.checkpoints.empty()) {
      const auto latest = latest_checkpoint(parts_.checkpoints);
      if (latest) step = load_trainer_state(*latest).step;
    }
    broadcast_value(parts_.learners, step);
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

  /// Adds to the shard's gradient. Returns the loss.
  double accumulate(const MicroBatch& micro, double weight, const GradientShardWork& shard) {
    Transformer& model = policies_.of(shard.worker);
    const RowLogProbs rows = model.forward(micro.packed, 1.0F, true);
    const std::vector<float> d_log_probs(rows.log_probs.size(), static_cast<float>(-weight));
    const std::vector<float> d_entropies(rows.log_probs.size(), 0.0F);
    model.backward(micro.packed, d_log_probs, d_entropies, shard.gradient);
    return negative_sum(rows.log_probs);
  }

  /// Runs forward and backward over this learner's shards. Returns the loss summed over all
  /// learners.
  double run_shards(std::span<const SequenceTokens> sequences, double weight) {
    const PackedShards shards = own_shards(sequences, parts_.learners, options_);
    std::vector<double> loss(static_cast<std::size_t>(shards.count));
    gradient_.run(shards.count, [&](const GradientShardWork& shard) {
      for (const MicroBatch& micro : shards.own[static_cast<std::size_t>(shard.number)]) {
        loss[static_cast<std::size_t>(shard.shard)] += accumulate(micro, weight, shard);
      }
    });
    return sum_shards(parts_.learners, std::move(loss));
  }

  /// Returns the mean loss of all response tokens.
  double mean_loss(std::span<const SequenceTokens> sequences) {
    const PackedShards shards = own_shards(sequences, parts_.learners, options_);
    std::vector<double> loss(static_cast<std::size_t>(shards.count));
    auto own_loss = loss.begin() + shards.first;
    for (const std::vector<MicroBatch>& micro_batches : shards.own) {
      for (const MicroBatch& micro : micro_batches) {
        *own_loss += negative_sum(parts_.model.forward(micro.packed, 1.0F, false).log_probs);
      }
      ++own_loss;
    }
    return sum_shards(parts_.learners, std::move(loss)) /
           static_cast<double>(response_tokens(sequences));
  }

  void begin_save(std::int64_t step) {
    TrainerState state;
    state.step = state.policy_version = step;
    state.seed = static_cast<std::uint64_t>(options_.seed);
    state.build_id = parts_.build_id;
    saver_->save({parts_.weights, optimizer_, state, parts_.start_model}, [this] {
      remove_old_checkpoints(parts_.checkpoints, options_.checkpoint.keep_last);
    });
  }

  /// Gathers the weights of all learners into the model.
  void share() {
    const Tensor all = gathered_weights(parts_.weights, gradient_.scratch());
    gather_shards(parts_.learners, parts_.weights, all);
    parts_.model.set_weights(all);
  }

  SftOptions options_;
  const SftParts& parts_;
  AdamW optimizer_;
  GradientShardSum gradient_;  // [1, N] fp32
  WorkerPolicies policies_;
  std::vector<std::vector<std::size_t>> batches_;  // of the current epoch
  std::int64_t epoch_ = -1;
  std::int64_t first_step_ = 0;  // of the current epoch
  std::optional<CheckpointSaver> saver_;
};

}  // namespace

std::int64_t run_sft(const SftOptions& options, const SftParts& parts) {
  if (parts.examples.empty()) fail("data.train_file: no examples; name a file with rows");
  Tuner tuner(options, parts);
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
