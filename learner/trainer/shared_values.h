// Makes values that each learner computed from its own share of a mini-batch known to all learners,
// bit-identical for any number of learners.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "common/comm/collective/collective.h"

namespace lie {

/// Makes one value per gradient shard of the mini-batch known to every learner. Each learner has
/// set the values of the shards `own`; all others are overwritten. A value is a double or consists
/// of doubles. Sums over the shards are then added in ascending order. Collective; blocks.
template <typename Value>
void share_gradient_shards(Collective& learners, std::span<const std::int64_t> own,
                           std::span<Value> by_shard) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(double) == 0);
  using Numbers = std::array<double, sizeof(Value) / sizeof(double)>;
  std::vector<Numbers> numbers(by_shard.size());  // 0 for the shards of other learners
  for (const std::int64_t shard : own) {
    const auto i = static_cast<std::size_t>(shard);
    numbers[i] = std::bit_cast<Numbers>(by_shard[i]);
  }
  learners.all_reduce_sum(std::span(numbers.front().data(), numbers.size() * Numbers().size()));
  for (std::size_t i = 0; i < by_shard.size(); ++i) by_shard[i] = std::bit_cast<Value>(numbers[i]);
}

/// Makes all elements of `values` known to every learner. Each learner passes its own elements and
/// 0 for all others. An element of -0 becomes 0. Collective; blocks.
void share_values(Collective& learners, std::span<float> values);

}  // namespace lie
