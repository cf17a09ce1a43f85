// Gives tests access to tensors in host memory, such as those of the CPU operators.
#pragma once

#include <span>
#include <vector>

#include "model/weights/weights.h"

namespace lie::test {

/// Returns the elements of a tensor with contiguous rows.
inline std::span<float> host(Tensor x) {
  return {static_cast<float*>(x.data), static_cast<std::size_t>(x.elements())};
}
inline std::span<float> host(const Weights& weights) { return host(weights.flat()); }

/// Returns a vector as a tensor of one row.
inline Tensor row_of(std::vector<float>& values) {
  return {values.data(), 1, std::ssize(values), std::ssize(values), DType::kFloat32};
}
/// Returns an input as a tensor of one row. The pointer is mutable because outputs share the type.
inline Tensor row_of(const std::vector<float>& values) {
  return row_of(const_cast<std::vector<float>&>(values));
}

}  // namespace lie::test
