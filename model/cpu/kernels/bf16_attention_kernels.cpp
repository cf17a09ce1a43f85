// Attention in bf16. Per query: scores of all visible positions, their maximum, exponentials
// rounded to bf16 and summed by lanes in page order, then values weighted by them in page order. A
// packed sequence is first copied into pages, so that training has the same order of operations as
// decoding.
#include "model/cpu/kernels/bf16_attention_kernels.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/bf16_attention_kernels.cpp"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/bf16_attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::PagedAttention, cpu::SequenceAttention, cpu::TilePages, cpu::TileRowsOf;

// ---- Matmuls without a matrix unit

void multiply_keys_in_vectors(const TilePages& pages, const TileRowsOf& x, float* sums,
                              std::int64_t stride) {
  const WithoutSubnormals arithmetic;
  for (std::int64_t page = 0; page < pages.count; ++page) {
    float* to = sums + page * kPage;
    zero_rows({to, stride}, x.count);
    for (std::int64_t k = 0; k < pages.width; k += cpu::kTileDepth) {
      const std::int64_t depth = std::min(pages.width - k, cpu::kTileDepth);
      add_block({x.at + k, x.stride, x.count, pages.keys(page) + k * kPage, depth}, to, stride);
    }
  }
}

void multiply_values_in_vectors(const TilePages& pages, const TileRowsOf& weights, float* sums,
                                std::int64_t stride) {
  const WithoutSubnormals arithmetic;
  for (std::int64_t column = 0; column < pages.width; column += 16) {
    zero_rows({sums + column, stride}, weights.count);
    for (std::int64_t page = 0; page < pages.count; ++page) {
      add_block({weights.at + page * kPage, weights.stride, weights.count,
                 pages.values(page) + column * kPage, kPage},
                sums + column, stride);
    }
  }
}

void add_matmul_of_16_in_vectors(std::int64_t width, const std::uint16_t* x,
                                 const std::uint16_t* right, float* sums) {
  const WithoutSubnormals arithmetic;
  add_block({x, kPage, width, right, kPage}, sums, 16);
}

// ---- Softmax and values of up to 16 rows

/// Query rows of one KV head. Row r sees `visible` + r * next_visible positions.
struct QueryRows {
  TilePages pages;
  TileRowsOf q;
  std::int64_t rows;  // rows of q that are not padding
  std::int64_t visible, next_visible;
  float scale;
  Rows y;
  Rows log_sum = {};  // may be null
};

/// Replaces the scores of one row by weights rounded to bf16, in the first half of the scores'
/// memory. The returned sum is that of the rounded weights. A component common to all values is
/// then passed through unchanged and cancels in the gradient.
HWY_INLINE RowSoftmax weights_of(float* scores, std::int64_t pages, std::int64_t visible,
                                 float scale) {
  V16 best = set16(-INFINITY);
  for (std::int64_t p = 0; p < pages; ++p) {
    const V16 scaled = mul(load16(scores + p * kPage), set16(scale));
    const V16 seen = keep_first(scaled, visible - p * kPage, -INFINITY);
    store16(seen, scores + p * kPage);
    best = max(best, seen);
  }
  auto* weights = reinterpret_cast<std::uint16_t*>(scores);
  const float largest = max_lane(best);
  const float sum = sum_exponentials(scores, pages, largest, [&](std::int64_t p, const V16& e) {
    const V16 weight = rounded(e);
    store_exact(weight, weights + p * kPage);
    return weight;
  });
  return {largest, sum};
}

/// `scores` is scratch [q.count, 16 pages], `sums` is scratch [q.count, E].
HWY_INLINE void attend_rows(const QueryRows& job, float* scores, float* sums) {
  const std::int64_t stride = job.pages.count * kPage, width = job.pages.width;
  cpu::multiply_keys(job.pages, job.q, scores, stride);
  float inverse[cpu::kTileRows];
  for (std::int64_t r = 0; r < job.rows; ++r) {
    const RowSoftmax row = weights_of(scores + r * stride, job.pages.count,
                                      job.visible + r * job.next_visible, job.scale);
    inverse[r] = 1.0f / row.sum;
    if (job.log_sum.data != nullptr) *job.log_sum[r] = row.largest + log(row.sum);
  }
  cpu::multiply_values(
      job.pages, {reinterpret_cast<std::uint16_t*>(scores), 2 * stride, job.q.count}, sums, width);
  for (std::int64_t r = 0; r < job.rows; ++r) {
    for (std::int64_t c = 0; c < width; c += 16) {
      store16(mul(load16(sums + r * width + c), set16(inverse[r])), job.y[r] + c);
    }
  }
}

// ---- Over pages

/// Copies the values of a page in which `count` positions are stored. Later positions become 0.
HWY_INLINE void copy_values(const std::uint16_t* values, std::int64_t width, std::int64_t count,
                            std::uint16_t* to) {
  for (std::int64_t i = 0; i < width * kPage; i += 32) {
    const std::int64_t first = i % (16 * kPage) / 16;  // first position of the pair
    const std::uint32_t mask = first + 1 < count ? 0xffff'ffffu : first < count ? 0xffffu : 0u;
    W16 pair = load_words(values + i);
    for (Bits& part : pair.part) part = hn::And(part, hn::Set(Words(), mask));
    store_words(pair, reinterpret_cast<std::uint32_t*>(to + i));
  }
}

void attend_pages_in_bf16(const PagedAttention& job, float* scratch) {
  const std::int64_t width = job.head_width, pages = pages_of(job.length);
  auto* values = reinterpret_cast<std::uint16_t*>(scratch);
  auto* q = values + kPage * width;
  float* sums = reinterpret_cast<float*>(q + cpu::kTileRows * width);
  TilePages all{width, static_cast<const std::uint16_t*>(job.part), job.page_stride, job.pages,
                pages};
  if (job.length % kPage != 0) {
    copy_values(all.values(pages - 1), width, job.length % kPage, values);
    all.last_values = values;
  }
  const std::int64_t together = std::min(job.group, cpu::kTileRows);
  const cpu::AttentionUnit unit(together);
  for (std::int64_t head = 0; head < job.group; head += together) {
    const std::int64_t rows = std::min(job.group - head, together);
    round_rows(job.q + head * width, width, rows, together, width, q);
    attend_rows({.pages = all,
                 .q = {q, width, together},
                 .rows = rows,
                 .visible = job.length,
                 .next_visible = 0,
                 .scale = job.scale,
                 .y = {job.y + head * width, width}},
                sums + cpu::kTileRows * width, sums);
  }
}

// ---- Over a packed sequence

void attend_sequence_in_bf16(const SequenceAttention& job, float* scratch) {
  const std::int64_t width = job.head_width, pages = pages_of(job.length);
  auto* q = reinterpret_cast<std::uint16_t*>(scratch + pages * kPage * width);
  float* sums = reinterpret_cast<float*>(q + cpu::kTileRows * width);
  TilePages all =
      pack_pages(job.k, job.v, job.length, width, reinterpret_cast<std::uint16_t*>(scratch));
  const cpu::AttentionUnit unit(cpu::kTileRows);
  const bool has_log_sum = job.log_sum.data != nullptr;
  for (std::int64_t head = 0; head < job.group; ++head) {
    for (std::int64_t row = 0; row < job.length; row += kPage) {
      const std::int64_t rows = std::min(job.length - row, kPage), col = head * width;
      round_rows(job.q[row] + col, job.q.stride, rows, kPage, width, q);
      all.count = row / kPage + 1;
      attend_rows(
          {.pages = all,
           .q = {q, width, kPage},
           .rows = rows,
           .visible = row + 1,
           .next_visible = 1,
           .scale = job.scale,
           .y = {job.y[row] + col, job.y.stride},
           .log_sum = has_log_sum ? Rows{job.log_sum[row] + head, job.log_sum.stride} : Rows()},
          sums + cpu::kTileRows * width, sums);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(multiply_keys_in_vectors);
HWY_EXPORT(multiply_values_in_vectors);
HWY_EXPORT(add_matmul_of_16_in_vectors);
HWY_EXPORT(attend_pages_in_bf16);
HWY_EXPORT(attend_sequence_in_bf16);

namespace cpu {

void multiply_keys_in_vectors(const TilePages& pages, const TileRowsOf& x, float* sums,
                              std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(lie::multiply_keys_in_vectors)(pages, x, sums, stride);
}

void multiply_values_in_vectors(const TilePages& pages, const TileRowsOf& weights, float* sums,
                                std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(lie::multiply_values_in_vectors)(pages, weights, sums, stride);
}

void add_matmul_of_16_in_vectors(std::int64_t width, const std::uint16_t* x,
                                 const std::uint16_t* right, float* sums) {
  HWY_DYNAMIC_DISPATCH(lie::add_matmul_of_16_in_vectors)(width, x, right, sums);
}

void store_position_in_bf16(const float* key, const float* value, std::int64_t head_width,
                            std::int64_t place, void* part) {
  auto* keys = static_cast<std::uint16_t*>(part);
  std::uint16_t* values = keys + kPage * head_width;
  for (std::int64_t d = 0; d < head_width; ++d) {
    keys[d / 2 * 2 * kPage + place * 2 + d % 2] = to_bfloat16(key[d]);
    values[d / 16 * 16 * kPage + place / 2 * 32 + d % 16 * 2 + place % 2] = to_bfloat16(value[d]);
  }
}

std::int64_t paged_attention_scratch_in_bf16(std::int64_t length, std::int64_t group,
                                             std::int64_t head_width) {
  return std::min(group, kTileRows) * (length + kPage) + 2 * kTileRows * head_width;
}

void attend_pages_in_bf16(const PagedAttention& job, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::attend_pages_in_bf16)(job, scratch);
}

std::int64_t sequence_attention_scratch_in_bf16(std::int64_t length, std::int64_t head_width) {
  return (length + kPage) * (head_width + kTileRows) + 2 * kTileRows * head_width;
}

void attend_sequence_in_bf16(const SequenceAttention& job, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::attend_sequence_in_bf16)(job, scratch);
}

}  // namespace cpu
}  // namespace lie
#endif
