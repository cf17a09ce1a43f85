// Attention of one KV head and the query heads that share it, over pages in decoding and over one
// packed sequence in training. Both visit positions in the same order with the same lanes, so that
// a token's result is bit-identical.
#pragma once

#include <cstdint>

#include "model/cpu/kernels/kernels.h"

namespace lie::cpu {

constexpr std::int64_t kPage = 16;  // positions of a page, the lanes of one score vector

/// Returns the number of elements of one page per layer and KV head: keys, then values.
inline std::int64_t page_part_elements(std::int64_t head_width) { return 2 * kPage * head_width; }

/// The query heads of one row that share a KV head, and the pages that they attend to.
struct PagedAttention {
  std::int64_t head_width = 0;
  std::int64_t group = 0;        // query heads
  float scale = 0;               // factor of the scores
  const float* q = nullptr;      // [group, E]
  const void* part = nullptr;    // memory of this layer and KV head in page 0, in the pages' dtype
  std::int64_t page_stride = 0;  // elements
  const std::int32_t* pages = nullptr;  // [pages of the sequence]
  std::int64_t length = 0;              // positions attended to, >= 1
  float* y = nullptr;                   // [group, E]
};

/// A whole sequence with causal attention.
struct SequenceAttention {
  std::int64_t head_width = 0, group = 0;
  float scale = 0;
  std::int64_t length = 0;
  Rows q;        // [length, group * E]
  Rows k, v;     // [length, E]
  Rows y;        // [length, group * E]
  Rows log_sum;  // [length, group] or null
};

/// The gradient of attend_sequence. Reads y and log_sum, writes dq, dk and dv.
struct SequenceAttentionGradient {
  SequenceAttention forward;
  Rows dy, dq, dk, dv;  // in the shapes of y, q, k and v
};

/// Attention functions of one arithmetic (fp32 or bf16). Scratch sizes are in floats.
struct AttentionKernels {
  /// Stores one position's key and value in a page.
  void (*store_position)(const float* key, const float* value, std::int64_t head_width,
                         std::int64_t place, void* part);
  std::int64_t (*pages_scratch)(std::int64_t length, std::int64_t group, std::int64_t head_width);
  void (*attend_pages)(const PagedAttention& job, float* scratch);
  std::int64_t (*sequence_scratch)(std::int64_t length, std::int64_t head_width);
  void (*attend_sequence)(const SequenceAttention& job, float* scratch);
  std::int64_t (*gradient_scratch)(std::int64_t length, std::int64_t head_width);
  void (*attend_sequence_backward)(const SequenceAttentionGradient& job, float* scratch);
};

}  // namespace lie::cpu
