// Norm and AdamW in ATen, on flat fp32 tensors.
#pragma once

#include <ATen/ATen.h>

#include "model/operators/operators.h"

namespace lie::aten {

/// Of each block, in double, in LibTorch's own order.
void sums_of_squares(const at::Tensor& x, std::int64_t block, std::span<double> sums);

/// Element-wise in fp32 as AdamWStep says; LibTorch may fuse a product with its sum, so that
/// results equal the CPU operators' up to rounding.
void adamw(const AdamWStep& how, const at::Tensor& gradient, const at::Tensor& weights,
           const at::Tensor& first, const at::Tensor& second);

}  // namespace lie::aten
