// Sums of squares and AdamW in ATen, on flat fp32 tensors.
#pragma once

#include "model/aten/aten.h"
#include "model/operators/operators.h"

namespace lie::aten {

/// Computes the sum of squares of each block, in double, in LibTorch's order.
void sums_of_squares(const at::Tensor& x, std::int64_t block, std::span<double> sums);

/// Applies AdamWStep element by element in fp32. LibTorch may fuse multiplications with additions,
/// so results equal the CPU operators' up to rounding.
void adamw(const AdamWStep& how, const at::Tensor& gradient, const at::Tensor& weights,
           const at::Tensor& first, const at::Tensor& second);

/// Rounds fp32 moments to the bf16 values that an AdamW step with bf16 moments stores.
void round_moments(const AdamWStep& how, const at::Tensor& first, const at::Tensor& second);

}  // namespace lie::aten
