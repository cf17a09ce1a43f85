// The lists that a library's attention over pages reads on the device.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/aten/cudnn_calls.h"
#include "model/cuda/prefill_attention.h"

namespace lie::cuda {

/// The lists of a decode call, which all layers with one table share. Their sizes are rounded up to
/// powers of two, so that few shapes occur: by sequences without rows, and by repeating the last
/// page of a sequence.
class PlacedPrefills {
 public:
  PlacedPrefills() = default;
  PlacedPrefills(const PrefillInputs& in, const aten::CudnnCalls& calls);

  std::int64_t sequences() const { return rows_.numel(); }
  std::int64_t longest() const { return longest_; }          // rows of a sequence, at most
  std::int64_t table_width() const { return table_width_; }  // pages of a sequence, at most
  const std::int32_t* table() const { return table_.const_data_ptr<std::int32_t>(); }
  const std::int32_t* rows() const { return rows_.const_data_ptr<std::int32_t>(); }
  /// Returns the positions of each sequence, with those of earlier calls.
  const std::int32_t* lengths() const { return lengths_.const_data_ptr<std::int32_t>(); }
  /// Returns the elements before each sequence, then before the end, in a tensor whose rows are
  /// `stride` apart.
  const std::int64_t* offsets(std::int64_t stride);
  /// Zeroes the slots past the end of each sequence in its last page, which no other sequence has.
  /// They may hold NaN, and cuDNN does not promise that a factor of 0 removes it.
  void clear_past_end(const at::Tensor& pages) const;

 private:
  std::int64_t longest_ = 1, table_width_ = 1;
  at::Tensor firsts_, rows_, lengths_, table_;
  at::Tensor last_pages_, past_end_;            // undefined if all last pages are full
  std::map<std::int64_t, at::Tensor> offsets_;  // by stride
};

}  // namespace lie::cuda
