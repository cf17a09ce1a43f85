// Quantization to NF4 and back, bit-identical to the CPU operators (model/cpu/nf4_weight.cpp).
#pragma once

#include <cstdint>

#include "model/cuda/kernels/packs.h"
#include "model/operators/nf4.h"

namespace lie::cuda {

/// Quantizes one block.
struct QuantizeNf4 {
  const float *weights, *values;
  std::uint8_t* codes;
  float* scales;
  LIE_ROW void operator()(std::int64_t block) const {
    scales[block] =
        nf4::quantize(weights + block * nf4::kBlock, values, codes + block * nf4::kBlockBytes);
  }
};

/// Dequantizes one pack, which is a part of a block, with one store. The values are in one line of
/// the cache, from which all threads of a warp read at once.
template <typename T>
struct DequantizeNf4 {
  const std::uint8_t* codes;
  const float *scales, *values;
  T* weights;
  LIE_ROW void operator()(std::int64_t pack) const {
    static_assert(nf4::kBlock % kPack<T> == 0);
    const std::int64_t first = pack * kPack<T>, block = first / nf4::kBlock;
    Floats<kPack<T>> out;
    for (int c = 0; c < kPack<T>; ++c) {
      out[c] = nf4::weight_at(codes + block * nf4::kBlockBytes, scales[block],
                              first % nf4::kBlock + c, values);
    }
    store(out, weights + first);
  }
};

}  // namespace lie::cuda
