// Attention as in attention_kernels.h with matmuls in bf16. Queries, keys, values, weights and
// their gradients are rounded. Sums, the softmax and its results are fp32. A page of one layer and
// KV head has the layout of TilePages.
#pragma once

#include <cstdint>

#include "model/cpu/kernels/attention_jobs.h"

namespace lie::cpu {

void store_position_in_bf16(const float* key, const float* value, std::int64_t head_width,
                            std::int64_t place, void* part);
std::int64_t paged_attention_scratch_in_bf16(std::int64_t length, std::int64_t group,
                                             std::int64_t head_width);
void attend_pages_in_bf16(const PagedAttention& job, float* scratch);
std::int64_t sequence_attention_scratch_in_bf16(std::int64_t length, std::int64_t head_width);
void attend_sequence_in_bf16(const SequenceAttention& job, float* scratch);
std::int64_t sequence_gradient_scratch_in_bf16(std::int64_t length, std::int64_t head_width);
void attend_sequence_backward_in_bf16(const SequenceAttentionGradient& job, float* scratch);

}  // namespace lie::cpu
