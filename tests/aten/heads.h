// Norm of each query and key head and rotation by position, in ATen. Arithmetic is fp32.
#pragma once

#include "model/aten/aten.h"
#include "model/operators/operators.h"

namespace lie::aten {

/// The arguments of QkNormRope, with the angles of each row.
struct HeadRotation {
  AttentionShape shape;
  at::Tensor q_norm, k_norm;  // [E] fp32, undefined without QK-norm
  double eps = 0;
  at::Tensor cosines, sines;  // [T, 1, E/2] fp32
};

/// Converts `qkv` [T, (H + 2K) E] to `rotated` [T, (H + K) E].
void norm_and_rotate(const at::Tensor& qkv, const HeadRotation& how, const at::Tensor& rotated);

/// Writes the query and key columns of `d_qkv` and adds to dq_norm and dk_norm [E], which are
/// undefined without QK-norm.
void norm_and_rotate_backward(const at::Tensor& d_rotated, const at::Tensor& qkv,
                              const HeadRotation& how, const at::Tensor& d_qkv,
                              const at::Tensor& dq_norm, const at::Tensor& dk_norm);

}  // namespace lie::aten
