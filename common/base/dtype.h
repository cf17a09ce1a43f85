// Element types of arrays.
#pragma once

#include <cstdint>

namespace lie {

enum class DType : std::uint8_t { kFloat32 = 0, kBFloat16 = 1, kFloat64 = 2, kInt32 = 3 };

constexpr std::int64_t dtype_bytes(DType dtype) {
  return dtype == DType::kFloat64 ? 8 : dtype == DType::kBFloat16 ? 2 : 4;
}

/// The number types that operators compute with.
struct ComputeDTypes {
  DType activations = DType::kFloat32;
  DType packed = DType::kFloat32;  // packed weights, and keys and values in KV cache pages

  constexpr ComputeDTypes() = default;
  constexpr ComputeDTypes(DType all) : activations(all), packed(all) {}
  constexpr ComputeDTypes(DType of_activations, DType of_packed)
      : activations(of_activations), packed(of_packed) {}
};

}  // namespace lie
