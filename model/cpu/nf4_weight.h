// A frozen weight of the CPU operators in NF4: 4.5 bits a weight. Matmuls dequantize it panel by
// panel.
#pragma once

#include <cstdint>
#include <utility>

#include "model/cpu/kernels/kernels.h"
#include "model/operators/nf4.h"
#include "model/operators/operators.h"
#include "model/operators/thread_team.h"

namespace lie::cpu {

/// Codes and scales of [out, in], row by row. `out * in` is a multiple of nf4::kBlock.
class Nf4Weight : public PackedWeight {
 public:
  /// `memory` holds floats(out, in) elements.
  Nf4Weight(std::int64_t out, std::int64_t in, Buffer memory)
      : PackedWeight(out, in), memory_(std::move(memory)) {}
  static std::int64_t floats(std::int64_t out, std::int64_t in) {
    return nf4::bytes_of(out * in) / std::int64_t{sizeof(float)};
  }
  std::int64_t bytes() const override { return nf4::bytes_of(out() * in()); }

  /// Quantizes the rows [first_out, first_out + rows) of row-major memory, whole blocks.
  void pack(ThreadTeam& team, std::int64_t first_out, std::int64_t rows, const float* matrix);
  /// Writes the weights of a range of outputs and inputs to `to`, whose elements are `out_step`
  /// apart from one output to the next and `in_step` apart from one input to the next.
  void dequantize(Range outs, Range ins, float* to, std::int64_t out_step,
                  std::int64_t in_step) const;

 private:
  std::uint8_t* codes(std::int64_t block) const {
    return static_cast<std::uint8_t*>(memory_.view().data) + block * nf4::kBlockBytes;
  }
  float& scale(std::int64_t block) const {
    return reinterpret_cast<float*>(codes(out() * in() / nf4::kBlock))[block];
  }

  Buffer memory_;  // all codes, then all scales
};

}  // namespace lie::cpu
