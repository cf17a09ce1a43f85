#include "model/weight_sync/arriving_weights.h"

#include <algorithm>
#include <utility>

#include "model/config/parameter_layout.h"

namespace lie {
namespace {

std::int64_t longest_row_of(const ModelConfig& config) {
  return std::ranges::max(trained_layout(config), {}, &Parameter::cols).cols;
}

/// Returns the elements of memory for parts of `part` elements.
std::int64_t memory_for(std::int64_t part, std::int64_t elements, std::int64_t longest_row) {
  return std::min(part + longest_row, elements);
}

}  // namespace

std::int64_t arriving_weight_bytes(const ModelConfig& config) {
  return memory_for(kWeightPartElements, flat_elements(trained_layout(config)),
                    longest_row_of(config)) *
         dtype_bytes(DType::kFloat32);
}

ArrivingWeights::ArrivingWeights(const ModelConfig& config, Operators& operators)
    : operators_(operators),
      elements_(flat_elements(trained_layout(config))),
      longest_row_(longest_row_of(config)) {}

DeviceSpan ArrivingWeights::next(std::int64_t count) {
  if (memory_.view().cols < held_ + count) {
    Buffer larger =
        operators_.allocate(1, memory_for(count, elements_, longest_row_), DType::kFloat32);
    if (held_ > 0) {
      operators_.copy(memory_.view().elements_at(0, held_), larger.view().elements_at(0, held_));
    }
    memory_ = std::move(larger);
  }
  const Tensor part = memory_.view().elements_at(held_, count);
  held_ += count;
  return operators_.span(part);
}

void ArrivingWeights::pack_into(Transformer& policy) {
  const std::int64_t packed =
      policy.set_weights_from(packed_, memory_.view().elements_at(0, held_));
  packed_ += packed;
  held_ -= packed;
  if (packed == 0) return;
  // Pieces of at most `packed` elements, so that source and destination do not overlap.
  for (std::int64_t first = 0; first < held_; first += packed) {
    const std::int64_t count = std::min(packed, held_ - first);
    operators_.copy(memory_.view().elements_at(packed + first, count),
                    memory_.view().elements_at(first, count));
  }
}

}  // namespace lie
