// Presents packed sequences as rows of a decode call. Each sequence has its own pages.
#pragma once

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
  /// Uploads the batch for the operators until their next begin_pass(). This object must live as
  /// long.
  DecodeBatch batch(Operators& operators);

 private:
  std::int64_t pages_ = 0, width_ = 1, longest_ = 0;
  std::vector<std::int32_t> positions_, slots_, sequences_, table_, joined_;
};

}  // namespace lie::cuda
