// Attention in fp32. A page of one layer and KV head is floats: keys [E][16], then values [16][E].
#pragma once

#include <cstdint>

#include "model/cpu/kernels/attention_jobs.h"

namespace lie::cpu {

void store_position(const float* key, const float* value, std::int64_t head_width,
                    std::int64_t place, void* part);
std::int64_t paged_attention_scratch(std::int64_t length, std::int64_t group,
                                     std::int64_t head_width);
void attend_pages(const PagedAttention& job, float* scratch);
std::int64_t sequence_attention_scratch(std::int64_t length, std::int64_t head_width);
void attend_sequence(const SequenceAttention& job, float* scratch);
std::int64_t sequence_gradient_scratch(std::int64_t length, std::int64_t head_width);
void attend_sequence_backward(const SequenceAttentionGradient& job, float* scratch);

}  // namespace lie::cpu
