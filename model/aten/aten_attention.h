// Attention in ATen: causal over packed sequences, and one query a row over paged keys and values.
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "model/operators.h"

namespace lie::aten {

struct AttentionOutput {
  at::Tensor y;        // [T, H*E] fp32
  at::Tensor log_sum;  // [T, H] fp32
};
/// `rotated` [T, H*E + K*E], `values` [T, K*E]; the sequences lie between `starts`.
AttentionOutput attention(const at::Tensor& rotated, const at::Tensor& values,
                          const AttentionShape& shape, std::span<const std::int32_t> starts);

struct AttentionGradient {
  at::Tensor d_rotated;  // [T, H*E + K*E] fp32
  at::Tensor d_values;   // [T, K*E] fp32
};
AttentionGradient attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                     const at::Tensor& values, const at::Tensor& y,
                                     const at::Tensor& log_sum, const AttentionShape& shape,
                                     std::span<const std::int32_t> starts);

/// `keys` and `values` [pages, kPageTokens, K, E] of one layer, `table` [sequences, width] pages,
/// `sequences` and `positions` [T]; `longest` positions at most. Returns y [T, H*E] fp32.
at::Tensor attention_decode(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const at::Tensor& table,
                            const at::Tensor& sequences, const at::Tensor& positions,
                            const AttentionShape& shape, std::int64_t longest);

}  // namespace lie::aten
