#include "tests/aten/rows.h"

namespace lie::aten {

Norm rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor inverse_rms = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + eps);
  return {wide * inverse_rms * weight, inverse_rms};
}

NormGradient rms_norm_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& inverse_rms) {
  const at::Tensor normed = x.to(at::kFloat) * inverse_rms;
  const at::Tensor wide_dy = dy.to(at::kFloat);
  const at::Tensor dnormed = wide_dy * weight;
  const at::Tensor along = (dnormed * normed).mean(-1, /*keepdim=*/true);
  return {(dnormed - normed * along) * inverse_rms,
          (wide_dy * normed).reshape({-1, x.size(-1)}).sum(0)};
}

at::Tensor swiglu(const at::Tensor& gate_up) {
  const auto halves = gate_up.to(at::kFloat).chunk(2, 1);
  return at::silu(halves[0]) * halves[1];
}

at::Tensor swiglu_backward(const at::Tensor& dy, const at::Tensor& gate_up) {
  const auto halves = gate_up.to(at::kFloat).chunk(2, 1);
  const at::Tensor wide_dy = dy.to(at::kFloat);
  const at::Tensor sigmoid = at::sigmoid(halves[0]);
  const at::Tensor silu = halves[0] * sigmoid;
  const at::Tensor dgate = wide_dy * halves[1] * (sigmoid + silu * (1 - sigmoid));
  return at::cat({dgate, wide_dy * silu}, 1);
}

at::Tensor target_log_probs(const at::Tensor& z, const at::Tensor& targets,
                            const at::Tensor& log_sum) {
  return z.gather(1, targets.unsqueeze(1)).squeeze(1) - log_sum;
}

HeadOutput log_probs(const at::Tensor& logits, const at::Tensor& targets, float temperature) {
  const at::Tensor z = logits.to(at::kFloat) * (1.0f / temperature);
  const at::Tensor log_sum = at::logsumexp(z, {1});
  const at::Tensor all = z - log_sum.unsqueeze(1);
  return {target_log_probs(z, targets.to(at::kLong), log_sum), -(all.exp() * all).sum(1), log_sum};
}

at::Tensor log_probs_backward(const at::Tensor& logits, const at::Tensor& targets,
                              float temperature, const at::Tensor& entropies,
                              const at::Tensor& log_sum, const at::Tensor& d_log_probs,
                              const at::Tensor& d_entropies) {
  const at::Tensor log_p = logits.to(at::kFloat) * (1.0f / temperature) - log_sum.unsqueeze(1);
  const at::Tensor p = log_p.exp();
  // d log p_target / dz = onehot - p and dH / dz = -p (log p + H).
  at::Tensor dz = -p * d_log_probs.unsqueeze(1) -
                  p * (log_p + entropies.unsqueeze(1)) * d_entropies.unsqueeze(1);
  dz.scatter_add_(1, targets.to(at::kLong).unsqueeze(1), d_log_probs.unsqueeze(1));
  return dz * (1.0f / temperature);
}

}  // namespace lie::aten
