// Causal attention over packed sequences in ATen's elementary operators: on any device, in fp32,
// with memory linear in the longest sequence.
#pragma once

#include <span>

#include "model/aten/aten.h"
#include "model/operators/operators.h"

namespace lie::aten {

double score_scale(const AttentionShape& shape);

struct AttentionOutput {
  at::Tensor y;        // [T, H*E]
  at::Tensor log_sum;  // [T, H] fp32
};
/// Computes attention in fp32. `rotated` [T, H*E + K*E], `values` [T, K*E]. Sequence s has the rows
/// [starts[s], starts[s + 1]).
AttentionOutput attention(const at::Tensor& rotated, const at::Tensor& values,
                          const AttentionShape& shape, std::span<const std::int32_t> starts);

struct AttentionGradient {
  at::Tensor d_rotated;  // [T, H*E + K*E]
  at::Tensor d_values;   // [T, K*E]
};
/// Computes the gradients in fp32. `y` and `log_sum` are results of attention().
AttentionGradient attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                     const at::Tensor& values, const at::Tensor& y,
                                     const at::Tensor& log_sum, const AttentionShape& shape,
                                     std::span<const std::int32_t> starts);

}  // namespace lie::aten
