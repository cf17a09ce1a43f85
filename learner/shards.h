// Which learner holds which range of the flat order of parameters.
#pragma once

#include <cstdint>

#include "common/comm/collective.h"
#include "model/operators.h"
#include "model/parameter_layout.h"

namespace lie {

/// Shards are of whole blocks of so many elements, whose squares the gradient's norm adds up first:
/// the norm's bits do not depend on the shards.
constexpr std::int64_t kShardBlock = std::int64_t{1} << 14;

/// What one member sends another at a time: so much of its memory waits for what arrives.
constexpr std::int64_t kExchangedAtOnce = std::int64_t{1} << 18;  // elements

/// The learner's range of `elements`, in the order of learners; empty where there are fewer blocks
/// than learners.
FlatRange shard_of(std::int64_t elements, int learner, int learners);

/// Elements of the longest shard.
std::int64_t longest_shard(std::int64_t elements, int learners);

/// The elements of `shard` from `done` on that are exchanged at once; fewer, or none, at its end.
FlatRange part_of_shard(FlatRange shard, std::int64_t done);

/// Every learner's shard of `flat` [1, N] reaches all others. Collective; blocks.
void gather_shards(Collective& learners, Operators& operators, Tensor flat);

}  // namespace lie
