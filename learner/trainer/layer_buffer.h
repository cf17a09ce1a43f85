// Memory for the trained parameters of one layer at a time: for their gradients, or for weights
// that are gathered.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/trainer/layer_ranges.h"
#include "model/layers/flat_tensors.h"
#include "model/operators/operators.h"

namespace lie {

class LayerBuffer {
 public:
  /// Allocates fp32 memory for layers of at most `elements` elements.
  LayerBuffer(Operators& operators, std::int64_t elements);

  /// Divides the memory among the parameters of a layer, or of kNoLayer. Its values stay as they
  /// are. Throws Error if the layer has more elements.
  void hold(const LayerRanges& layers, std::int64_t layer);
  /// Returns the memory of the layer by role.
  const RoleTensors& tensors() const { return tensors_; }
  /// Returns the memory of the whole layer, [1, elements].
  Tensor all() const { return memory_.view().elements_at(0, elements_); }
  /// Returns the memory of the elements `part` of the flat order, which must be within one of the
  /// layer's ranges.
  Tensor at(FlatRange part) const;
  /// Returns all memory, also that which the layer does not need.
  Tensor memory() const { return memory_.view(); }

 private:
  Buffer memory_;
  std::vector<FlatRange> ranges_;
  std::int64_t elements_ = 0;  // of the layer
  RoleTensors tensors_;
};

}  // namespace lie
