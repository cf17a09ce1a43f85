// Matrix products in ATen between tensors of mixed dtype: bf16 factors, sums and results in fp32.
#pragma once

#include <ATen/ATen.h>

namespace lie::aten {

/// out = a b; out may be fp32 where a and b are bf16: then nothing is rounded to bf16.
void multiply(at::Tensor out, const at::Tensor& a, const at::Tensor& b);

/// out += a b, out fp32.
void multiply_add(at::Tensor out, const at::Tensor& a, const at::Tensor& b);

/// a b of each pair of matrices [n, ., .], fp32.
at::Tensor batched_wide(const at::Tensor& a, const at::Tensor& b);

}  // namespace lie::aten
