// The sharding of weights, gradient and moments over learners (ZeRO stage 1, arXiv:1910.02054). A
// learner's optimizer shard is a range of the flat order of parameters. The learner holds the
// summed gradient and both moments of its shard, updates these weights, and then sends them to all
// other learners. Both ends of the exchanges are in optimizer_shards.cpp and
// gradient_shard_sum.cpp.
#pragma once

#include <cstdint>

#include "common/comm/collective/collective.h"
#include "model/operators/operators.h"
#include "model/weights/weights.h"

namespace lie {

/// Elements per block. A shard consists of whole blocks, and the gradient's norm first sums the
/// squares of each block. The norm therefore does not depend on the sharding, bit for bit.
constexpr std::int64_t kOptimizerShardBlock = std::int64_t{1} << 14;

/// Returns the number of elements that one learner sends to another at a time: 2^18 in host memory,
/// whose exchanges are copied, and 2^22 in device memory, where each exchange waits for the device.
/// It bounds the receive buffers and changes no result.
std::int64_t chunk_elements(const Operators& operators);
inline constexpr std::int64_t kHostChunk = std::int64_t{1} << 18, kDeviceChunk = kHostChunk << 4;

/// Returns the shard of `learner` in a flat order of `elements`. Shards ascend with the learner;
/// some are empty if there are fewer blocks than learners.
FlatRange optimizer_shard_of(std::int64_t elements, int learner, int learners);

std::int64_t longest_optimizer_shard(std::int64_t elements, int learners);

/// Divides `range` in the same way, and returns the part of `learner`.
FlatRange part_of_learner(FlatRange range, int learner, int learners);

/// Returns the number of blocks of kOptimizerShardBlock that hold `elements`.
std::int64_t optimizer_shard_blocks(std::int64_t elements);

/// Returns the chunk of `shard` that starts `done` elements into it: `most`, or fewer or none at
/// its end.
FlatRange chunk_of_optimizer_shard(FlatRange shard, std::int64_t done, std::int64_t most);

FlatRange own_optimizer_shard(const Weights& weights, const Collective& learners);

/// Returns the Euclidean norm of a gradient of `elements`, of which each learner holds its `shard`.
/// It is the root of the blocks' sums of squares, added in ascending order. Collective; blocks.
double gradient_norm(Collective& learners, Operators& operators, Tensor shard,
                     std::int64_t elements);

/// Copies the shards of all learners into `all`, [1, N]: the weights themselves if they are
/// complete, otherwise other memory. Also refreshes the weights that this learner holds beyond its
/// shard. Collective; blocks.
void gather_optimizer_shards(Collective& learners, const Weights& weights, Tensor all);

}  // namespace lie
