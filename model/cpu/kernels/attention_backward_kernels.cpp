// Attention backward of one packed sequence and KV head. The probabilities are recomputed from
// log_sum. For query i and position j, dP = dy_i . v_j and dS = P (dP - dy_i . y_i) scale. Then
// dv_j = sum P dy_i, dk_j = sum dS q_i and dq_i = sum dS k_j.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/attention_backward_kernels.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::kPage, cpu::Rows, cpu::SequenceAttention, cpu::SequenceAttentionGradient;

struct GradientTile {
  const SequenceAttentionGradient* job;
  const float* keys;    // pages [E][16]
  const float* values;  // pages [E][16]
  float* d_keys;        // pages [E][16]
  float* d_values;      // pages [E][16]
  float* d_scores;      // [rows][pages * 16]
  std::int64_t row, head;
};

HWY_INLINE float row_dot(const float* a, const float* b, std::int64_t width) {
  V16 sum = zero16();
  for (std::int64_t i = 0; i < width; i += 16) sum = fma(load16(a + i), load16(b + i), sum);
  return sum_lanes(sum);
}

/// page[d] += the sum over rows, in order, of x[r][d] weights[r].
template <int kRows>
HWY_INLINE void add_to_page(const float* HWY_RESTRICT x, std::int64_t stride,
                            const V16 (&weights)[kRows], std::int64_t width,
                            float* HWY_RESTRICT page) {
  for (std::int64_t d = 0; d < width; ++d) {
    V16 sum = load16(page + d * kPage);
    for (int r = 0; r < kRows; ++r) sum = fma(set1(x[r * stride + d]), weights[r], sum);
    store16(sum, page + d * kPage);
  }
}

/// Values that are constant for the rows of a tile.
template <int kRows>
struct TileRows {
  const float* q;
  const float* dy;
  float log_sum[kRows];
  float center[kRows];  // dy . y
};

template <int kRows>
HWY_INLINE TileRows<kRows> tile_rows(const GradientTile& tile) {
  const SequenceAttentionGradient& job = *tile.job;
  const SequenceAttention& f = job.forward;
  TileRows<kRows> rows;
  rows.q = f.q[tile.row] + tile.head * f.head_width;
  rows.dy = job.dy[tile.row] + tile.head * f.head_width;
  for (int r = 0; r < kRows; ++r) {
    const float* y = f.y[tile.row + r] + tile.head * f.head_width;
    rows.log_sum[r] = f.log_sum[tile.row + r][tile.head];
    rows.center[r] = row_dot(rows.dy + r * job.dy.stride, y, f.head_width);
  }
  return rows;
}

template <int kRows>
HWY_INLINE void page_backward(const GradientTile& tile, const TileRows<kRows>& rows, std::int64_t p,
                              std::int64_t pages) {
  const SequenceAttentionGradient& job = *tile.job;
  const SequenceAttention& f = job.forward;
  const std::int64_t at = p * kPage * f.head_width;
  const V16 scale = set16(f.scale);
  V16 prob[kRows], d_score[kRows];
  page_dot_products<kRows>(rows.q, f.q.stride, tile.keys + at, f.head_width, prob);
  for (int r = 0; r < kRows; ++r) {
    const V16 score = keep_first(mul(prob[r], scale), tile.row + r + 1 - p * kPage, -INFINITY);
    prob[r] = exp(sub(score, set16(rows.log_sum[r])));
  }
  page_dot_products<kRows>(rows.dy, job.dy.stride, tile.values + at, f.head_width, d_score);
  for (int r = 0; r < kRows; ++r) {
    d_score[r] = mul(mul(prob[r], sub(d_score[r], set16(rows.center[r]))), scale);
    store16(d_score[r], tile.d_scores + (r * pages + p) * kPage);
  }
  add_to_page<kRows>(rows.dy, job.dy.stride, prob, f.head_width, tile.d_values + at);
  add_to_page<kRows>(rows.q, f.q.stride, d_score, f.head_width, tile.d_keys + at);
}

/// Prefetches what a later tile reads first of this row.
HWY_INLINE void prefetch_row(const GradientTile& tile, std::int64_t row) {
  const SequenceAttentionGradient& job = *tile.job;
  const SequenceAttention& f = job.forward;
  if (row >= f.length) return;
  const std::int64_t first = tile.head * f.head_width;
  for (std::int64_t i = first; i < first + f.head_width; i += 16) {
    hwy::Prefetch(f.q[row] + i);
    hwy::Prefetch(f.y[row] + i);
    hwy::Prefetch(job.dy[row] + i);
  }
}

template <int kRows>
HWY_NOINLINE void tile_backward(const GradientTile& tile) {
  const SequenceAttentionGradient& job = *tile.job;
  const SequenceAttention& f = job.forward;
  const std::int64_t count = tile.row + kRows, pages = pages_of(count);
  const TileRows<kRows> rows = tile_rows<kRows>(tile);
  for (std::int64_t p = 0; p < pages; ++p) {
    if (p < kRows) prefetch_row(tile, count + p);
    page_backward<kRows>(tile, rows, p, pages);
  }
  float one[kRows];
  std::fill(one, one + kRows, 1.0f);
  weigh_rows<kRows>(tile.d_scores, pages * kPage, {f.k, count, f.head_width}, one,
                    {job.dq[tile.row] + tile.head * f.head_width, job.dq.stride});
}

HWY_INLINE void untranspose_sequence(const float* pages, std::int64_t length, std::int64_t width,
                                     Rows rows) {
  for (std::int64_t j = 0; j < length; ++j) {
    const float* page = pages + j / kPage * kPage * width + j % kPage;
    for (std::int64_t d = 0; d < width; ++d) rows[j][d] = page[d * kPage];
  }
}

void attend_sequence_backward(const SequenceAttentionGradient& job, float* scratch) {
  const SequenceAttention& f = job.forward;
  const std::int64_t size = pages_of(f.length) * kPage * f.head_width;
  float* keys = scratch;
  float* values = keys + size;
  float* d_keys = values + size;
  float* d_values = d_keys + size;
  transpose_sequence(f.k, f.length, f.head_width, keys);
  transpose_sequence(f.v, f.length, f.head_width, values);
  std::fill(d_keys, d_keys + 2 * size, 0.0f);
  for (std::int64_t head = 0; head < f.group; ++head) {
    for (std::int64_t row = 0; row < f.length; row += kTileRows) {
      const GradientTile tile{&job, keys, values, d_keys, d_values, d_values + size, row, head};
      with_rows<kTileRows>(f.length - row, [&]<int kRows>() { tile_backward<kRows>(tile); });
    }
  }
  untranspose_sequence(d_keys, f.length, f.head_width, job.dk);
  untranspose_sequence(d_values, f.length, f.head_width, job.dv);
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(attend_sequence_backward);

namespace cpu {

std::int64_t sequence_gradient_scratch(std::int64_t length, std::int64_t head_width) {
  constexpr std::int64_t kMaxTileRows = 8;
  return (length + kPage) * (4 * head_width + kMaxTileRows);
}

void attend_sequence_backward(const SequenceAttentionGradient& job, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::attend_sequence_backward)(job, scratch);
}

}  // namespace cpu
}  // namespace lie
#endif
