// Receives an update of weight sync into flat memory.
#pragma once

#include <cstdint>
#include <optional>

#include "model/weight_sync/weight_sync.h"

namespace lie::test {

/// Receives all parts into `weights`, fp32, and returns their policy version.
inline std::optional<std::int64_t> receive_all(Collective& group, DeviceSpan weights) {
  std::int64_t first = 0;
  const auto next = [&](std::int64_t count) {
    first += count;
    return weights.part(first - count, count);
  };
  return receive_weights(group, {.elements = weights.count, .next = next, .arrived = [] {}});
}

}  // namespace lie::test
