// Packed sequences as rows of a decode call: each in pages of its own, which hold nothing else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/operators/operators.h"

namespace lie::cuda {

class PackedPages {
 public:
  /// Sequence s has the rows [starts[s], starts[s + 1]).
  explicit PackedPages(std::span<const std::int32_t> starts);

  std::int64_t pages() const { return pages_; }
  std::int64_t rows() const { return std::ssize(positions_); }
  /// Where the operators can read it, until their next begin_pass(). This must live as long.
  DecodeBatch batch(Operators& operators);
  /// The rows from `first` on whose scratch memory fits into `most` floats, one at least; of_row()
  /// says how many a row of a batch whose longest has so many positions wants. Sets its `longest`.
  template <typename OfRow>
  DecodeBatch part(const DecodeBatch& all, std::int64_t first, std::int64_t most,
                   const OfRow& of_row) const {
    DecodeBatch part = all;
    part.longest = 0;
    std::int64_t count = 0;
    for (; first + count < rows(); ++count) {
      const std::int64_t longest = std::max(part.longest, length(first + count));
      if (count > 0 && (count + 1) * of_row(longest) > most) break;
      part.longest = longest;
    }
    part.positions = all.positions.from(first, count);
    part.slots = all.slots.from(first, count);
    part.sequences = all.sequences.from(first, count);
    return part;
  }

 private:
  std::int64_t length(std::int64_t row) const {
    return positions_[static_cast<std::size_t>(row)] + std::int64_t{1};
  }

  std::int64_t pages_ = 0, width_ = 1, longest_ = 0;
  std::vector<std::int32_t> positions_, slots_, sequences_, table_, joined_;
};

}  // namespace lie::cuda
