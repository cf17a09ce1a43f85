#include "tests/aten/heads.h"

#include "tests/aten/rows.h"

namespace lie::aten {
namespace {

/// The columns of the query heads or of the key heads in qkv, `rotated` and their gradients.
struct Part {
  std::int64_t first_column, columns, head_width;
  at::Tensor norm;

  at::Tensor of(const at::Tensor& x) const { return x.narrow(1, first_column, columns); }
  at::Tensor heads(const at::Tensor& x) const {  // [T, heads, E] fp32
    return of(x).to(at::kFloat).unflatten(1, {-1, head_width});
  }
};

Part queries(const HeadRotation& how) {
  return {0, how.shape.q_cols(), how.shape.head_width, how.q_norm};
}
Part keys(const HeadRotation& how) {
  return {how.shape.q_cols(), how.shape.kv_cols(), how.shape.head_width, how.k_norm};
}

/// Rotates the halves of each head: x [T, heads, E], angles [T, 1, E/2].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const auto halves = x.chunk(2, -1);
  return at::cat({halves[0] * cosines - halves[1] * sines, halves[1] * cosines + halves[0] * sines},
                 -1);
}

void forward(const at::Tensor& qkv, const HeadRotation& how, const Part& part,
             const at::Tensor& rotated) {
  at::Tensor x = part.heads(qkv);
  if (part.norm.defined()) x = rms_norm(x, part.norm, how.eps).y;
  part.of(rotated).copy_(rotate(x, how.cosines, how.sines).flatten(1));
}

void backward(const at::Tensor& d_rotated, const at::Tensor& qkv, const HeadRotation& how,
              const Part& part, const at::Tensor& d_qkv, const at::Tensor& dnorm) {
  // The inverse of a rotation rotates by the opposite angle.
  at::Tensor dx = rotate(part.heads(d_rotated), how.cosines, -how.sines);
  if (part.norm.defined()) {
    const at::Tensor x = part.heads(qkv);
    const at::Tensor inverse_rms = rms_norm(x, part.norm, how.eps).inverse_rms;
    const NormGradient gradient = rms_norm_backward(dx, x, part.norm, inverse_rms);
    if (dnorm.defined()) at::Tensor(dnorm).add_(gradient.dweight);
    dx = gradient.dx;
  }
  part.of(d_qkv).copy_(dx.flatten(1));
}

}  // namespace

void norm_and_rotate(const at::Tensor& qkv, const HeadRotation& how, const at::Tensor& rotated) {
  forward(qkv, how, queries(how), rotated);
  forward(qkv, how, keys(how), rotated);
}

void norm_and_rotate_backward(const at::Tensor& d_rotated, const at::Tensor& qkv,
                              const HeadRotation& how, const at::Tensor& d_qkv,
                              const at::Tensor& dq_norm, const at::Tensor& dk_norm) {
  backward(d_rotated, qkv, how, queries(how), d_qkv, dq_norm);
  backward(d_rotated, qkv, how, keys(how), d_qkv, dk_norm);
}

}  // namespace lie::aten
