// Causal attention over packed sequences by LibTorch's flash attention kernels: bf16 on CUDA.
#pragma once

#include "model/aten/attention.h"

namespace lie::aten {

/// Throws Error with the reason if this CUDA device has no such kernels, or if they disagree with
/// attention() on a small example, forward or backward. Falling back silently would make long
/// sequences take hours without an explanation.
void require_flash_attention(at::Device device);

bool flash_attention_supports(at::ScalarType type, const AttentionShape& shape);

/// Computes attention() with y in bf16. `starts` [S + 1] is int32 on the device. No sequence is
/// longer than `longest`.
AttentionOutput flash_attention(const at::Tensor& rotated, const at::Tensor& values,
                                const AttentionShape& shape, const at::Tensor& starts,
                                std::int64_t longest);

/// Computes attention_backward() in bf16. Results are bit-identical from call to call on devices
/// with the same number of multiprocessors.
AttentionGradient flash_attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                           const at::Tensor& values, const at::Tensor& y,
                                           const at::Tensor& log_sum, const AttentionShape& shape,
                                           const at::Tensor& starts, std::int64_t longest,
                                           int multiprocessors);

}  // namespace lie::aten
