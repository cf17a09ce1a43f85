#include "model/cuda/packed_pages.h"

#include <algorithm>

#include "model/operators/operators.h"

namespace lie::cuda {
namespace {

std::int64_t pages_for(std::int64_t rows) {
  return (rows + Operators::kPageTokens - 1) / Operators::kPageTokens;
}

}  // namespace

PackedPages::PackedPages(std::span<const std::int32_t> starts) {
  const auto int32 = [](std::int64_t x) { return static_cast<std::int32_t>(x); };
  const std::int64_t sequences = std::ssize(starts) - 1;
  const auto length = [&](std::int64_t s) -> std::int64_t { return starts[s + 1] - starts[s]; };
  for (std::int64_t s = 0; s < sequences; ++s) longest_ = std::max(longest_, length(s));
  width_ = std::max<std::int64_t>(pages_for(longest_), 1);
  for (std::int64_t s = 0; s < sequences; ++s) {
    for (std::int64_t p = 0; p < width_; ++p) table_.push_back(int32(pages_ + p));
    for (std::int64_t t = 0; t < length(s); ++t) {
      positions_.push_back(int32(t));
      slots_.push_back(int32(pages_ * Operators::kPageTokens + t));
      sequences_.push_back(int32(s));
    }
    pages_ += pages_for(length(s));
  }
}

DecodeBatch PackedPages::batch(Operators& operators) {
  DecodeBatch batch;
  const ListUpload lists[] = {{positions_, &batch.positions},
                              {slots_, &batch.slots},
                              {sequences_, &batch.sequences},
                              {table_, &batch.table}};
  upload_together(operators, joined_, lists);
  batch.table_width = width_;
  batch.longest = longest_;
  batch.host_positions = positions_;
  batch.host_sequences = sequences_;
  return batch;
}

}  // namespace lie::cuda
