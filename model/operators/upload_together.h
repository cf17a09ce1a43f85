// Uploads several lists of integers at once, because each upload to a device is a separate
// transfer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/operators/operators.h"

namespace lie {

/// Returns each list readable by the operators until the next begin_pass(). `joined` is the host
/// memory of the upload; it must stay valid and unchanged until then.
template <std::size_t N>
std::array<Indices, N> upload_together(Operators& operators, std::vector<std::int32_t>& joined,
                                       const std::array<std::span<const std::int32_t>, N>& lists) {
  joined.clear();
  for (const auto& list : lists) joined.insert(joined.end(), list.begin(), list.end());
  const Indices all = operators.upload(joined);
  std::array<Indices, N> parts;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < N; ++i) {
    parts[i] = all.from(first, std::ssize(lists[i]));
    first += std::ssize(lists[i]);
  }
  return parts;
}

}  // namespace lie
