// The tensors of a model by layer and role, as views of a flat buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/config/parameter_layout.h"
#include "model/operators/tensor.h"

namespace lie {

/// The tensors of one layer, or of kNoLayer, by role. A role that the model lacks is empty.
class RoleTensors {
 public:
  Tensor& operator[](ParameterRole role) { return tensors_[static_cast<std::size_t>(role)]; }
  const Tensor& operator[](ParameterRole role) const {
    return tensors_[static_cast<std::size_t>(role)];
  }

 private:
  std::array<Tensor, kParameterRoles> tensors_;
};

/// Views of a flat buffer [1, N] in the flat order of the parameters.
class FlatTensors {
 public:
  FlatTensors() = default;
  /// Throws Error if `flat` does not have the elements of `layout`.
  FlatTensors(std::span<const Parameter> layout, Tensor flat);

  bool empty() const { return layers_.empty(); }
  /// Replaces the tensors of a layer by those of other memory.
  void set(std::int64_t layer, const RoleTensors& tensors) {
    const auto number = static_cast<std::size_t>(layer + 1);
    if (number >= layers_.size()) layers_.resize(number + 1);
    layers_[number] = tensors;
  }
  /// Returns the tensors of a layer, or those outside of all layers for kNoLayer.
  const RoleTensors& layer(std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer + 1)];
  }

 private:
  std::vector<RoleTensors> layers_;  // [L + 1], kNoLayer first
};

}  // namespace lie
