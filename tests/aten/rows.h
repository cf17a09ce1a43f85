// Operators on single rows in ATen: norms, SwiGLU, log-probs. Arithmetic is in fp32 for every dtype
// of activations. Results are rounded to the output's dtype.
#pragma once

#include "model/aten/aten.h"

namespace lie::aten {

struct Norm {
  at::Tensor y;            // [T, D] fp32
  at::Tensor inverse_rms;  // [T, 1] fp32
};
Norm rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

struct NormGradient {
  at::Tensor dx;       // [T, D] fp32
  at::Tensor dweight;  // [D] fp32, summed over rows
};
/// x and dy [..., D], inverse_rms [..., 1].
NormGradient rms_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& inverse_rms);

at::Tensor swiglu(const at::Tensor& gate_up);
at::Tensor swiglu_backward(const at::Tensor& dy, const at::Tensor& gate_up);

/// Returns log softmax(z) [R, V] at `targets` [R] int64, given logsumexp(z). Sampler and learner
/// both use this function.
at::Tensor target_log_probs(const at::Tensor& z, const at::Tensor& targets,
                            const at::Tensor& log_sum);

struct HeadOutput {
  at::Tensor log_probs, entropies, log_sum;  // [R] fp32
};
HeadOutput log_probs(const at::Tensor& logits, const at::Tensor& targets, float temperature);

/// d(loss)/d(logits) [R, V] fp32.
at::Tensor log_probs_backward(const at::Tensor& logits, const at::Tensor& targets,
                              float temperature, const at::Tensor& entropies,
                              const at::Tensor& log_sum, const at::Tensor& d_log_probs,
                              const at::Tensor& d_entropies);

}  // namespace lie::aten
