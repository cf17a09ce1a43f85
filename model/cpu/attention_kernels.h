// Attention of one KV head and the query heads that share it: over pages while decoding, over one
// packed sequence in training. Both walk positions in the same order with the same lanes, so that a
// token's result is the same bits.
#pragma once

#include <cstdint>

namespace lie::cpu {

constexpr std::int64_t kPage = 16;  // positions a page holds: the lanes of one score vector

/// What one page holds per layer and KV head: keys [E][16], then values [16][E].
inline std::int64_t page_part_elements(std::int64_t head_width) { return 2 * kPage * head_width; }

/// One row's query heads of one KV head against its pages. T: float, or std::uint16_t for bf16
/// numbers, which are widened as they are read.
template <typename T>
struct PagedAttention {
  std::int64_t head_width = 0;
  std::int64_t group = 0;               // query heads
  float scale = 0;                      // of scores
  const float* q = nullptr;             // [group, E]
  const T* pool = nullptr;              // at the part of this layer and KV head in page 0
  std::int64_t page_stride = 0;         // elements
  const std::int32_t* pages = nullptr;  // [pages of the sequence]
  std::int64_t length = 0;              // positions attended to, >= 1
  float* y = nullptr;                   // [group, E]
};
std::int64_t paged_attention_scratch(std::int64_t length, std::int64_t group);  // floats
void attend_pages(const PagedAttention<float>& job, float* scratch);
void attend_pages(const PagedAttention<std::uint16_t>& job, float* scratch);

/// Puts one position's key and value into a page's part.
void store_position(const float* key, const float* value, std::int64_t head_width,
                    std::int64_t place, float* part);
/// Rounded to bf16.
void store_position(const float* key, const float* value, std::int64_t head_width,
                    std::int64_t place, std::uint16_t* part);

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
std::int64_t sequence_attention_scratch(std::int64_t length, std::int64_t head_width);  // floats
void attend_sequence(const SequenceAttention& job, float* scratch);

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
std::int64_t sequence_gradient_scratch(std::int64_t length, std::int64_t head_width);  // floats
void attend_sequence_backward(const SequenceAttentionGradient& job, float* scratch);

}  // namespace lie::cpu
