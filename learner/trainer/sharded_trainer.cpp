#include "learner/trainer/sharded_trainer.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/trace_range.h"
#include "learner/trainer/layer_weights.h"
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

std::optional<GradientShardSum> gradient_tree(const TrainerOptions& options, const Weights& weights,
                                              Collective& learners) {
  if (options.zero_stage > 1) return std::nullopt;
  return std::optional<GradientShardSum>(std::in_place, weights.operators(), learners,
                                         flat_elements(weights.parameters()),
                                         options.gradient_shards, read_elements(weights.config()));
}

std::shared_ptr<LayerShards> layer_shards(const TrainerOptions& options, const Weights& weights,
                                          Collective& learners) {
  check_zero_stage(options, is_adapter(weights.parameters()));
  if (options.zero_stage < 3 || learners.size() == 1) return nullptr;
  return std::make_shared<LayerShards>(weights.config(), weights.operators(), learners);
}

Transformer policy_of(const Weights& weights, const std::shared_ptr<LayerShards>& shards) {
  return shards ? Transformer(weights.config(), weights.operators(), shards) : Transformer(weights);
}

std::optional<GradientRounds> gradient_rounds(const TrainerOptions& options, const Weights& weights,
                                              Collective& learners, LayerShards* shards) {
  if (options.zero_stage == 1) return std::nullopt;
  return std::optional<GradientRounds>(std::in_place, weights.operators(), learners,
                                       weights.parameters(), options.gradient_shards, shards);
}

}  // namespace

ShardedTrainer::ShardedTrainer(const TrainerOptions& options, const OptimizerOptions& optimizer,
                               Weights weights, Collective& learners)
    : options_(options),
      learners_(learners),
      weights_(std::move(weights)),
      optimizer_(optimizer, weights_, own_optimizer_shard(weights_, learners)),
      layer_shards_(layer_shards(options, weights_, learners)),
      policy_(policy_of(weights_, layer_shards_)),
      tree_(gradient_tree(options, weights_, learners)),
      rounds_(gradient_rounds(options, weights_, learners, layer_shards_.get())),
      workers_(tree_ ? tree_->workers() : std::vector{&weights_.operators()}),
      policies_(workers_, policy_, options.activation_mebibytes << 20) {
  check_options(optimizer);
  if (tree_) {
    options_.max_micro_batch_tokens = tree_->pass_tokens(options.max_micro_batch_tokens);
  }
  if (learners.size() > 1) gather_weights();
}

PackedGradientShards ShardedTrainer::pack(std::span<const SequenceTokens> sequences) const {
  return pack_gradient_shards(sequences, options_.gradient_shards, options_.max_micro_batch_tokens,
                              learners_.rank(), learners_.size(),
                              rounds_ ? ShardDealing::kInterleaved : ShardDealing::kRanges);
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
  if (tree_) {
    return tree_->for_each_shard(shards.count, [&](const GradientShardWork& shard) {
      run_micro_batches(shards, shard, work);
    });
  }
  for_each_round_pass(shards, learners_.rank(), learners_.size(), [&](const RoundPass& pass) {
    if (layer_shards_) layer_shards_->begin_pass(/*has_backward=*/false);
    if (pass.own != nullptr) work({*pass.own, policies_.of(0), 0, pass.shard});
    if (layer_shards_) layer_shards_->end_pass();
  });
}

void ShardedTrainer::accumulate_gradient(const PackedGradientShards& shards, const Work& work) {
  if (tree_) {
    return tree_->run(shards.count, [&](const GradientShardWork& shard) {
      run_micro_batches(shards, shard, work);
    });
  }
  rounds_->run(shards, [&](const MicroBatch& batch, std::int64_t shard, GradientSink& gradient) {
    work({batch, policies_.of(0), 0, shard, &gradient});
  });
}

UpdateOutcome ShardedTrainer::update(std::int64_t step, TrainerSeconds& seconds) {
  const TraceRange range("optimizer", step);
  const UpdateOutcome outcome = tree_ ? apply_tree(step, seconds) : apply_rounds(step, seconds);
  gather_weights(seconds);
  return outcome;
}

UpdateOutcome ShardedTrainer::apply_tree(std::int64_t step, TrainerSeconds& seconds) {
  Tensor gradient;
  {
    const Timed timed(seconds.gradient_sync);
    gradient = tree_->sum();
  }
  const Timed timed(seconds.optimizer);
  const double norm = gradient_norm(learners_, weights_.operators(), gradient,
                                    flat_elements(weights_.parameters()));
  return optimizer_.update(step, norm, gradient, weights_.elements(optimizer_.shard()));
}

UpdateOutcome ShardedTrainer::apply_rounds(std::int64_t step, TrainerSeconds& seconds) {
  const Stopwatch all;
  double applying = 0;
  const UpdateOutcome outcome = optimizer_.begin(step, rounds_->norm());
  if (!outcome.skipped) {
    rounds_->for_each_part([&](FlatRange part, Tensor gradient) {
      const Timed timed(applying);
      optimizer_.apply(part, gradient, weights_.elements(part));
    });
  }
  seconds.gradient_sync += all.seconds() - applying;
  seconds.optimizer += applying;
  return outcome;
}

bool ShardedTrainer::gathers_by_layer() const {
  return rounds_.has_value() && learners_.size() > 1 && !is_adapter(weights_.parameters());
}

void ShardedTrainer::gather_weights() {
  TrainerSeconds seconds;
  gather_weights(seconds);
}

void ShardedTrainer::gather_weights(TrainerSeconds& seconds) {
  const TraceRange range("gather weights");
  gathers_by_layer() ? gather_by_layer(seconds) : gather_whole(seconds);
  if (!is_shared_with_actors_) return;
  const Timed timed(seconds.gradient_sync);
  wait_for_all(learners_);
}

void ShardedTrainer::gather_whole(TrainerSeconds& seconds) {
  const Tensor all = gathered_weights();
  {
    const Timed timed(seconds.gradient_sync);
    gather_optimizer_shards(learners_, weights_, all);
  }
  const Timed timed(seconds.optimizer);
  policy_.set_weights(all);
}

/// The weights of a layer come together in the memory of its gradient, from which they are packed.
void ShardedTrainer::gather_by_layer(TrainerSeconds& seconds) {
  const Stopwatch all;
  double gathering = 0;
  const LayerRanges& layers = rounds_->layers();
  const auto load = [&](std::int64_t layer) -> const RoleTensors& {
    const Timed timed(gathering);
    LayerBuffer& buffer = rounds_->buffer(layer);
    buffer.hold(layers, layer);
    gather_layer(learners_, weights_, layers, layer, buffer);
    if (layer_shards_) layer_shards_->take(layer, buffer);
    return buffer.tensors();
  };
  if (layer_shards_ || weights_.is_complete()) {
    for (std::int64_t layer = 0; layer < layers.layers(); ++layer) load(layer);
    load(kNoLayer);
    // Weights that are too few for a part of each learner are complete on one.
    if (!layer_shards_) policy_.set_weights(weights_.flat());
  } else {
    policy_.set_weights(load);
  }
  seconds.gradient_sync += gathering;
  seconds.optimizer += all.seconds() - gathering;
}

/// Returns memory of all weights, which gather_whole() writes: in stage 1 that of the gradient,
/// unless this learner holds all weights.
Tensor ShardedTrainer::gathered_weights() {
  if (weights_.is_complete()) return weights_.flat();
  if (tree_) return tree_->scratch();
  const std::int64_t elements = flat_elements(weights_.parameters());  // of an adapter
  if (gathered_.empty()) {
    gathered_ = weights_.operators().allocate(1, elements, DType::kFloat32);
  }
  return gathered_.view();
}

Tensor ShardedTrainer::weights_at(FlatRange part, bool on_all_learners) {
  if (!gathers_by_layer()) return gathered_weights().elements_at(part.first, part.count);
  const bool receives = on_all_learners || learners_.rank() == 0;
  if (receives && gathered_.view().elements() < part.count) {
    gathered_ = Buffer();
    gathered_ = weights_.operators().allocate(1, part.count, DType::kFloat32);
  }
  const Tensor to = receives ? gathered_.view().elements_at(0, part.count) : Tensor();
  on_all_learners ? gather_part(learners_, weights_, part, to)
                  : gather_part_on_learner_0(learners_, weights_, part, to);
  return to;
}

}  // namespace lie
