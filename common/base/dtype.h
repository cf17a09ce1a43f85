// Element types of arrays, and bfloat16 numbers: the upper half of an fp32 number's bits.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

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

/// Rounds to nearest, ties to even. Values from halfway beyond the largest finite number on become
/// infinite. NaN stays NaN.
constexpr std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fff'ffffu) > 0x7f80'0000u;
  const std::uint32_t nearest = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>((is_nan ? bits | 0x40'0000u : nearest) >> 16);
}

/// Rounds a finite value to one of the two nearest values, stochastically: away from zero with a
/// probability proportional to the distance from the other one. `random` holds 16 random bits.
/// Values between the largest finite number and infinity may become infinite.
constexpr std::uint16_t to_bfloat16_at_random(float value, std::uint32_t random) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + (random & 0xffffu)) >>
                                    16);
}

/// Returns whether all `values` are representable in bfloat16 without rounding.
constexpr bool exact_in_bfloat16(std::span<const float> values) {
  std::uint32_t lower = 0;
  for (const float value : values) lower |= std::bit_cast<std::uint32_t>(value) & 0xffffu;
  return lower == 0;
}

constexpr float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace lie
