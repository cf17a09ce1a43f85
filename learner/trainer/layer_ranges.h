// The trained parameters of each layer as ranges of the flat order, for exchanges layer by layer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/config/parameter_layout.h"

namespace lie {

/// Divides the flat order into ranges of one layer each, gaps between parameters included. A layer
/// has one range. The parameters outside of all layers (kNoLayer) have one before and one after the
/// layers, or none in an adapter.
class LayerRanges {
 public:
  explicit LayerRanges(std::span<const Parameter> layout);

  std::int64_t layers() const { return std::ssize(by_layer_) - 1; }
  /// Returns all ranges in flat order. They cover all elements.
  const std::vector<FlatRange>& all() const { return all_; }
  /// Returns the ranges of a layer, or of kNoLayer.
  const std::vector<FlatRange>& of(std::int64_t layer) const { return at(layer).ranges; }
  /// Returns the parameters of a layer, or of kNoLayer.
  std::span<const Parameter> parameters(std::int64_t layer) const { return at(layer).parameters; }
  /// Returns the elements of a layer, or of kNoLayer.
  std::int64_t elements(std::int64_t layer) const;
  /// Returns the elements of the largest layer.
  std::int64_t longest_layer() const;

 private:
  struct Layer {
    std::vector<FlatRange> ranges;
    std::vector<Parameter> parameters;
  };
  const Layer& at(std::int64_t layer) const {
    return by_layer_[static_cast<std::size_t>(layer + 1)];
  }

  std::vector<FlatRange> all_;
  std::vector<Layer> by_layer_;  // kNoLayer first
};

/// Returns the elements that both ranges contain. If there are none, the result is empty.
inline FlatRange intersection(FlatRange a, FlatRange b) {
  const std::int64_t first = std::max(a.first, b.first);
  const std::int64_t end = std::min(a.first + a.count, b.first + b.count);
  return {first, std::max<std::int64_t>(end - first, 0)};
}

}  // namespace lie
