// NF4 (QLoRA, arXiv:2305.14314): each block of 64 weights has a scale, and each weight a code of 4
// bits for one of 16 values. The numbers are those of quantize_4bit and dequantize_4bit of
// bitsandbytes for fp32, without quantized scales. Kernels of a GPU call these functions, too, with
// a copy of kValues in its memory.
#pragma once

#include <array>
#include <cstdint>

namespace lie::nf4 {

inline constexpr std::int64_t kBlock = 64;               // weights, adjacent in a matrix by rows
inline constexpr std::int64_t kBlockBytes = kBlock / 2;  // of its codes

/// The values by code: quantiles of the normal distribution, scaled to [-1, 1].
inline constexpr std::array<float, 16> kValues = {-1.0F,
                                                  -0.6961928009986877F,
                                                  -0.5250730514526367F,
                                                  -0.39491748809814453F,
                                                  -0.28444138169288635F,
                                                  -0.18477343022823334F,
                                                  -0.09105003625154495F,
                                                  0.0F,
                                                  0.07958029955625534F,
                                                  0.16093020141124725F,
                                                  0.24611230194568634F,
                                                  0.33791524171829224F,
                                                  0.44070982933044434F,
                                                  0.5626170039176941F,
                                                  0.7229568362236023F,
                                                  1.0F};

/// Returns the bytes of codes and scales of this number of weights, a multiple of kBlock.
constexpr std::int64_t bytes_of(std::int64_t weights) {
  return weights / kBlock * (kBlockBytes + std::int64_t{sizeof(float)});
}

/// Returns the code for a weight divided by its scale: the number of midpoints between adjacent
/// values that are below it.
constexpr std::uint8_t code_of(float ratio, const float* values) {
  int code = 0;
  for (int step = 8; step > 0; step /= 2) {  // binary search
    const float midpoint = (values[code + step - 1] + values[code + step]) / 2;
    if (midpoint < ratio) code += step;
  }
  return static_cast<std::uint8_t>(code);
}

/// Writes the codes of a block, two in a byte with the first in the upper half, and returns its
/// scale: the largest magnitude.
constexpr float quantize(const float* weights, const float* values, std::uint8_t* codes) {
  constexpr float kLeast = 1e-38F;  // of a scale whose reciprocal multiplies the weights
  float scale = 0;
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const float magnitude = weights[i] < 0 ? -weights[i] : weights[i];
    if (magnitude > scale) scale = magnitude;
  }
  const float reciprocal = 1 / (scale > kLeast ? scale : kLeast);
  for (std::int64_t i = 0; i < kBlock; i += 2) {
    codes[i / 2] = static_cast<std::uint8_t>(code_of(weights[i] * reciprocal, values) << 4 |
                                             code_of(weights[i + 1] * reciprocal, values));
  }
  return scale;
}

/// Returns weight i of a block.
constexpr float weight_at(const std::uint8_t* codes, float scale, std::int64_t i,
                          const float* values) {
  const int both = codes[i / 2];
  return values[i % 2 == 0 ? both >> 4 : both & 0xF] * scale;
}

}  // namespace lie::nf4
