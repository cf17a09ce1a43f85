// Rows in the shared memory of a thread block.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

/// Returns the floats between adjacent rows. A warp sums two rows at once, whose elements must not
/// be in the same of the 32 banks.
LIE_ROW std::int64_t shared_stride(std::int64_t width) {
  return width % 32 == 0 ? width + 16 : width;
}

/// The rows that a thread block loads together, item `first` and those after it.
struct RowTile {
  std::int64_t first, count, stride;

  LIE_ROW RowTile(std::int64_t tile, std::int64_t size, std::int64_t items, std::int64_t width)
      : first(tile * size), count(items - first), stride(shared_stride(width)) {
    if (count > size) count = size;
  }
  LIE_ROW static std::int64_t tiles(std::int64_t items, std::int64_t size) {
    return (items + size - 1) / size;
  }
  /// Calls f(place, column, Count<N>()) for N of `columns` columns of each row at a time. Row
  /// `place` is item first + place.
  template <int N, typename Block, typename F>
  LIE_ROW void each(const Block& block, std::int64_t columns, bool wide, const F& f) const {
    const auto all = static_cast<std::uint32_t>(columns);
    each_pack<N>(block, count * columns, wide, [&](std::int64_t i, auto n) {
      const auto element = static_cast<std::uint32_t>(i);
      f(std::int64_t{element / all}, std::int64_t{element % all}, n);
    });
  }
};

}  // namespace lie::cuda
