// Presents packed sequences as rows of a decode call. Each sequence has its own pages.
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
  /// Uploads the batch for the operators until their next begin_pass(). This object must live as
  /// long.
  DecodeBatch batch(Operators& operators);
  /// Returns the rows from `first` on whose scratch memory fits into `most` floats, but at least
  /// one, and sets its `longest`. floats_per_row(longest) returns the scratch floats of a row in a
  /// batch whose longest row has `longest` positions.
  template <typename FloatsPerRow>
  DecodeBatch part(const DecodeBatch& all, std::int64_t first, std::int64_t most,
                   const FloatsPerRow& floats_per_row) const {
    DecodeBatch part = all;
    part.longest = 0;
    std::int64_t count = 0;
    for (; first + count < rows(); ++count) {
      const std::int64_t longest = std::max(part.longest, length(first + count));
      if (count > 0 && (count + 1) * floats_per_row(longest) > most) break;
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
