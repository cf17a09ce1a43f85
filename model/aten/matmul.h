// Matmuls in ATen between tensors of different dtypes: bf16 factors, fp32 sums and results.
#pragma once

#include "model/aten/aten.h"

namespace lie::aten {

/// out = a b. out may be fp32 if a and b are bf16; then nothing is rounded to bf16.
void multiply(at::Tensor out, const at::Tensor& a, const at::Tensor& b);

/// out += a b. out is fp32.
void multiply_add(at::Tensor out, const at::Tensor& a, const at::Tensor& b);

/// Returns a b for each pair of matrices [n, ., .] in fp32.
at::Tensor batched_wide(const at::Tensor& a, const at::Tensor& b);

}  // namespace lie::aten
