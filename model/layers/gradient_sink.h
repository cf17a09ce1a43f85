// Where a backward pass adds the gradients of the weights, layer by layer.
#pragma once

#include <cstdint>
#include <span>

#include "model/layers/flat_tensors.h"

namespace lie {

/// The gradients of one backward pass. All tensors are fp32 in the operators' memory.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// Returns the tensors to which the pass adds the gradients of a layer, or for kNoLayer those of
  /// the parameters outside of all layers. They are valid until done() of the layer.
  virtual const RoleTensors& layer(std::int64_t layer) = 0;
  /// Called once per layer, last layer first, then for kNoLayer: the pass has issued all operators
  /// that add to the layer's gradients.
  virtual void done(std::int64_t layer) = 0;
};

/// A sink that adds to a flat buffer [1, N] in the order of the parameters. Where operators sum
/// exactly in order, passes over parts of a batch add up to the bits of one pass.
class FlatGradient final : public GradientSink {
 public:
  /// Throws Error if `flat` does not have the elements of `layout`.
  FlatGradient(std::span<const Parameter> layout, Tensor flat) : tensors_(layout, flat) {}
  const RoleTensors& layer(std::int64_t layer) override { return tensors_.layer(layer); }
  void done(std::int64_t) override {}

 private:
  FlatTensors tensors_;
};

}  // namespace lie
