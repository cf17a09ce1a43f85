// Attention of one KV head and the query heads that share it: over pages while decoding, over one
// packed sequence in training. Both walk positions in the same order with the same lanes, so that a
// token's result is the same bits.
#pragma once

#include <cstdint>

namespace lie::cpu {

constexpr std::int64_t kPage = 16;  // positions a page holds: the lanes of one score vector

/// What one page holds per layer and KV head: keys, then values.
inline std::int64_t page_part_elements(std::int64_t head_width) { return 2 * kPage * head_width; }

/// One row's query heads of one KV head against its pages.
struct PagedAttention {
  std::int64_t head_width = 0;
  std::int64_t group = 0;               // query heads
  float scale = 0;                      // of scores
  const float* q = nullptr;             // [group, E]
  const void* part = nullptr;           // of this layer and KV head in page 0, in the pages' type
  std::int64_t page_stride = 0;         // elements
  const std::int32_t* pages = nullptr;  // [pages of the sequence]
  std::int64_t length = 0;              // positions attended to, >= 1
  float* y = nullptr;                   // [group, E]
};

/// A whole sequence, causal: rows of query, key and value with their strides.
struct SequenceAttention {
  std::int64_t head_width = 0, group = 0;
  float scale = 0;
  std::int64_t length = 0;
  const float* q = nullptr;  // [length, group * E]
  const float* k = nullptr;  // [length, E]
  std::int64_t qk_stride = 0;
  const float* v = nullptr;  // [length, E]
  std::int64_t v_stride = 0;
  float* y = nullptr;  // [length, group * E]
  std::int64_t y_stride = 0;
  float* log_sum = nullptr;  // [length, group] or null
  std::int64_t log_sum_stride = 0;
};

/// Of attend_sequence: reads y and log_sum, writes dq, dk, dv.
struct SequenceAttentionGradient {
  SequenceAttention forward;
  const float* dy = nullptr;  // as y
  std::int64_t dy_stride = 0;
  float* dq = nullptr;  // as q
  float* dk = nullptr;  // as k
  std::int64_t d_qk_stride = 0;
  float* dv = nullptr;  // as v
  std::int64_t dv_stride = 0;
};

/// Attention in one arithmetic. Scratch is in floats.
struct AttentionKernels {
  /// Puts one position's key and value into a page's part.
  void (*store_position)(const float* key, const float* value, std::int64_t head_width,
                         std::int64_t place, void* part);
  std::int64_t (*pages_scratch)(std::int64_t length, std::int64_t group, std::int64_t head_width);
  void (*attend_pages)(const PagedAttention& job, float* scratch);
  std::int64_t (*sequence_scratch)(std::int64_t length, std::int64_t head_width);
  void (*attend_sequence)(const SequenceAttention& job, float* scratch);
  std::int64_t (*gradient_scratch)(std::int64_t length, std::int64_t head_width);
  void (*attend_sequence_backward)(const SequenceAttentionGradient& job, float* scratch);
};

// In fp32; a page's part is floats, keys [E][16] and values [16][E].

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
