// A frozen weight of the CUDA operators in NF4: 4.5 bits a weight.
#pragma once

#include <cstdint>

#include "model/aten/aten.h"
#include "model/cuda/kernels/kernels.h"
#include "model/operators/nf4.h"

namespace lie::cuda {

/// Codes and scales of [out, in], row by row. `out * in` is a multiple of nf4::kBlock.
class Nf4Weight : public PackedWeight {
 public:
  Nf4Weight(std::int64_t out, std::int64_t in, at::Device device)
      : PackedWeight(out, in),
        codes_(at::empty({out * in / 2}, at::TensorOptions().dtype(at::kByte).device(device))),
        scales_(at::empty({out * in / nf4::kBlock},
                          at::TensorOptions().dtype(at::kFloat).device(device))) {}
  std::int64_t bytes() const override { return nf4::bytes_of(out() * in()); }
  /// Returns the rows from `first_out` on, which begin with a block. `values` is a copy of
  /// nf4::kValues on the device.
  Nf4Rows rows(std::int64_t first_out, const at::Tensor& values) const {
    const std::int64_t first = first_out * in();
    return {static_cast<std::uint8_t*>(codes_.data_ptr()) + first / 2,
            static_cast<float*>(scales_.data_ptr()) + first / nf4::kBlock,
            static_cast<const float*>(values.const_data_ptr())};
  }

 private:
  at::Tensor codes_, scales_;
};

}  // namespace lie::cuda
