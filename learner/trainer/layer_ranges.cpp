#include "learner/trainer/layer_ranges.h"

namespace lie {

static_assert(kNoLayer == -1);

LayerRanges::LayerRanges(std::span<const Parameter> layout) : by_layer_(1) {
  std::vector<std::size_t> layer_of;  // by range
  for (const Parameter& parameter : layout) {
    const auto number = static_cast<std::size_t>(parameter.layer + 1);
    if (number >= by_layer_.size()) by_layer_.resize(number + 1);
    by_layer_[number].parameters.push_back(parameter);
    if (!layer_of.empty() && layer_of.back() == number) continue;
    layer_of.push_back(number);
    all_.push_back({parameter.offset, 0});
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::int64_t end = i + 1 < all_.size() ? all_[i + 1].first : flat_elements(layout);
    all_[i].count = end - all_[i].first;
    by_layer_[layer_of[i]].ranges.push_back(all_[i]);
  }
}

std::int64_t LayerRanges::elements(std::int64_t layer) const {
  std::int64_t sum = 0;
  for (const FlatRange range : of(layer)) sum += range.count;
  return sum;
}

std::int64_t LayerRanges::longest_layer() const {
  std::int64_t longest = 0;
  for (std::int64_t layer = 0; layer < layers(); ++layer) {
    longest = std::max(longest, elements(layer));
  }
  return longest;
}

}  // namespace lie
