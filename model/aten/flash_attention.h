// Causal attention over packed sequences by LibTorch's flash attention kernels: bf16 on CUDA.
#pragma once

#include "model/aten/attention.h"

namespace lie::aten {

/// Throws Error with the reason where this CUDA device has no such kernels, or they do not agree
/// with attention() on a small example, forward and backward: without them a long sequence would
/// take hours, and nobody would know why.
void require_flash_attention(at::Device device);

/// Whether the kernels take tensors of this shape.
bool flash_attention_takes(const at::Tensor& rotated, const AttentionShape& shape);

/// As attention(), y in bf16; `starts` [S + 1] int32 on the device, no sequence above `longest`.
AttentionOutput flash_attention(const at::Tensor& rotated, const at::Tensor& values,
                                const AttentionShape& shape, const at::Tensor& starts,
                                std::int64_t longest);

/// As attention_backward(), in bf16, with bits that do not change from call to call.
AttentionGradient flash_attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                           const at::Tensor& values, const at::Tensor& y,
                                           const at::Tensor& log_sum, const AttentionShape& shape,
                                           const at::Tensor& starts, std::int64_t longest);

}  // namespace lie::aten
