// Which learner holds which range of the flat order of parameters, of the summed gradient and both
// moments: it updates that range of the weights, which then reaches all. What passes between
// learners for it stands here and in learner/update/gradient_shard_sum.h.
#pragma once

#include <cstdint>
#include <span>

#include "common/comm/collective/collective.h"
#include "learner/update/optimizer.h"
#include "model/operators/operators.h"
#include "model/weights/weights.h"

namespace lie {

/// Shards are of whole blocks of so many elements, whose squares the gradient's norm adds up first:
/// the norm's bits do not depend on the shards.
constexpr std::int64_t kShardBlock = std::int64_t{1} << 14;

/// What one member sends another at a time: so much of its memory waits for what arrives.
constexpr std::int64_t kChunkElements = std::int64_t{1} << 18;  // elements

/// The learner's range of `elements`, in the order of learners; empty where there are fewer blocks
/// than learners.
FlatRange shard_of(std::int64_t elements, int learner, int learners);

/// Elements of the longest shard.
std::int64_t longest_shard(std::int64_t elements, int learners);

/// The elements of `shard` from `done` on that are exchanged at once; fewer, or none, at its end.
FlatRange chunk_of_shard(FlatRange shard, std::int64_t done);

/// This learner's of `weights`.
FlatRange own_shard(const Weights& weights, const Collective& learners);

/// Euclidean norm of the gradient that the learners hold a shard of each: the root of its blocks'
/// sums of squares, added in order. Collective; blocks.
double gradient_norm(Collective& learners, Operators& operators, Tensor shard,
                     std::int64_t elements);

/// AdamW on this learner's shard of the weights, by the norm of the whole gradient. gather_shards()
/// follows. Collective; blocks.
UpdateOutcome update_shard(Collective& learners, AdamW& optimizer, std::int64_t step,
                           Tensor gradient, Weights& weights);

/// Where the weights of all learners come together, [1, N]: in `weights` that are whole, else in
/// `idle` memory of that size.
Tensor gathered_weights(const Weights& weights, Tensor idle);

/// Every learner's shard of the weights reaches `all` = gathered_weights() of each, and what else
/// of them it holds. Collective; blocks.
void gather_shards(Collective& learners, const Weights& weights, Tensor all);

}  // namespace lie
