#include "learner/trainer/sharded_trainer.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "learner/trainer/optimizer_shards.h"

namespace lie {
namespace {

void wait_for_all(Collective& learners) {
  double nothing = 0;
  learners.all_reduce_sum(std::span(&nothing, 1));
}

/// Returns the elements of all weights that a pass reads: those of an adapter and of its base.
std::int64_t read_elements(const ModelConfig& config) {
  return flat_elements(parameter_layout(config)) +
         (config.lora ? flat_elements(adapter_layout(config)) : 0);
}

}  // namespace

ShardedTrainer::ShardedTrainer(const TrainerOptions& options, const OptimizerOptions& optimizer,
                               Weights weights, Collective& learners)
    : options_(options),
      learners_(learners),
      weights_(std::move(weights)),
      optimizer_(optimizer, weights_, own_optimizer_shard(weights_, learners)),
      policy_(weights_),
      gradient_(weights_.operators(), learners, flat_elements(weights_.parameters()),
                options.gradient_shards, read_elements(weights_.config())),
      policies_(gradient_.workers(), policy_, options.activation_mebibytes << 20) {
  check_options(optimizer);
  options_.max_micro_batch_tokens = gradient_.pass_tokens(options.max_micro_batch_tokens);
  if (learners.size() > 1) gather_weights();
}

PackedGradientShards ShardedTrainer::pack(std::span<const SequenceTokens> sequences) const {
  return pack_gradient_shards(sequences, options_.gradient_shards, options_.max_micro_batch_tokens,
                              learners_.rank(), learners_.size());
}

void ShardedTrainer::run_micro_batches(const PackedGradientShards& shards,
                                       const GradientShardWork& shard, const Work& work) {
  std::optional<FlatGradient> gradient;
  if (!shard.gradient.empty()) gradient.emplace(weights_.parameters(), shard.gradient);
  for (const MicroBatch& batch : shards.own[static_cast<std::size_t>(shard.number)]) {
    work({batch, policies_.of(shard.worker), shard.worker, shard.shard,
          gradient ? &*gradient : nullptr});
  }
}

void ShardedTrainer::for_each_micro_batch(const PackedGradientShards& shards, const Work& work) {
  gradient_.for_each_shard(shards.count, [&](const GradientShardWork& shard) {
    run_micro_batches(shards, shard, work);
  });
}

void ShardedTrainer::accumulate_gradient(const PackedGradientShards& shards, const Work& work) {
  gradient_.run(shards.count,
                [&](const GradientShardWork& shard) { run_micro_batches(shards, shard, work); });
}

UpdateOutcome ShardedTrainer::update(std::int64_t step, TrainerSeconds& seconds) {
  UpdateOutcome outcome;
  Tensor gradient;
  {
    const Timed timed(seconds.gradient_sync);
    gradient = gradient_.sum();
  }
  {
    const Timed timed(seconds.optimizer);
    const double norm = gradient_norm(learners_, weights_.operators(), gradient,
                                      flat_elements(weights_.parameters()));
    outcome = optimizer_.update(step, norm, gradient, weights_.elements(optimizer_.shard()));
  }
  gather_weights(seconds);
  return outcome;
}

void ShardedTrainer::gather_weights() {
  TrainerSeconds seconds;
  gather_weights(seconds);
}

void ShardedTrainer::gather_weights(TrainerSeconds& seconds) {
  const Tensor all = gathered_weights();
  {
    const Timed timed(seconds.gradient_sync);
    gather_optimizer_shards(learners_, weights_, all);
  }
  {
    const Timed timed(seconds.optimizer);
    policy_.set_weights(all);
  }
  if (!is_shared_with_actors_) return;
  const Timed timed(seconds.gradient_sync);
  wait_for_all(learners_);
}

/// The weights come together in the memory of the gradient, unless this learner holds all of them.
Tensor ShardedTrainer::gathered_weights() {
  return weights_.is_complete() ? weights_.flat() : gradient_.scratch();
}

}  // namespace lie
