// Functions shared by attention forward and backward. Included once per Highway target.
#if defined(LIE_MODEL_CPU_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIE_MODEL_CPU_ATTENTION_INL_H
#undef LIE_MODEL_CPU_ATTENTION_INL_H
#else
#define LIE_MODEL_CPU_ATTENTION_INL_H
#endif

#include <algorithm>

#include "model/cpu/kernels/attention_kernels.h"
#include "model/cpu/kernels/vec16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

constexpr int kTileRows = kWide ? 8 : 4;  // queries that share a load of keys

HWY_INLINE std::int64_t pages_of(std::int64_t length) {
  return (length + cpu::kPage - 1) / cpu::kPage;
}

/// out [E][16] = the transpose of `count` <= 16 rows; missing rows are 0.
HWY_INLINE void transpose_page(cpu::Rows rows, std::int64_t count, std::int64_t width,
                               float* HWY_RESTRICT out) {
  if (count < cpu::kPage) std::fill(out, out + width * cpu::kPage, 0.0f);
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t d = 0; d < width; ++d) out[d * cpu::kPage + j] = rows[j][d];
  }
}

/// Transposes rows [length, E] into consecutive pages [E][16].
HWY_INLINE void transpose_sequence(cpu::Rows rows, std::int64_t length, std::int64_t width,
                                   float* out) {
  for (std::int64_t p = 0; p < length; p += cpu::kPage) {
    transpose_page({rows[p], rows.stride}, std::min(cpu::kPage, length - p), width,
                   out + p * width);
  }
}

/// s[r] = the sum over d, in order, of x[r][d] page[d][16 positions].
template <int kRows>
HWY_INLINE void page_dot_products(const float* HWY_RESTRICT x, std::int64_t stride,
                                  const float* HWY_RESTRICT page, std::int64_t width,
                                  V16 (&s)[kRows]) {
  for (int r = 0; r < kRows; ++r) s[r] = zero16();
  for (std::int64_t d = 0; d < width; ++d) {
    const V16 k = load16(page + d * cpu::kPage);
    for (int r = 0; r < kRows; ++r) s[r] = fma(set1(x[r * stride + d]), k, s[r]);
  }
}

/// sum[r] += the sum over j, in order, of weights[r][j] rows[j], for kVecs vectors of 16 columns.
template <int kRows, int kVecs>
HWY_INLINE void weigh_columns(const float* HWY_RESTRICT weights, std::int64_t weights_stride,
                              const float* HWY_RESTRICT rows, std::int64_t stride,
                              std::int64_t count, V16 (&sum)[kRows][kVecs]) {
  for (std::int64_t j = 0; j < count; ++j) {
    V16 v[kVecs];
    for (int c = 0; c < kVecs; ++c) v[c] = load16(rows + j * stride + c * 16);
    for (int r = 0; r < kRows; ++r) {
      const Vec w = set1(weights[r * weights_stride + j]);
      for (int c = 0; c < kVecs; ++c) sum[r][c] = fma(w, v[c], sum[r][c]);
    }
  }
}

/// The number of positions in a block. Each block has its own accumulator, and the blocks' sums are
/// added in order. As in matmuls, shorter sums have smaller rounding errors.
constexpr std::int64_t kPositions = 256;
static_assert(kPositions % cpu::kPage == 0);

template <int kRows, int kVecs>
HWY_INLINE void zero(V16 (&sum)[kRows][kVecs]) {
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVecs; ++c) sum[r][c] = zero16();
  }
}

/// total += sum, or total = sum for the first block.
template <int kRows, int kVecs>
HWY_INLINE void add_block_sum(bool first, const V16 (&sum)[kRows][kVecs],
                              V16 (&total)[kRows][kVecs]) {
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVecs; ++c) total[r][c] = first ? sum[r][c] : add(total[r][c], sum[r][c]);
  }
}

struct ValueRows {
  cpu::Rows rows;
  std::int64_t count, width;
};

template <int kRows, int kVecs>
HWY_INLINE void weigh_rows_columns(const float* weights, std::int64_t weights_stride,
                                   const ValueRows& values, const float (&scale)[kRows],
                                   std::int64_t column, cpu::Rows y) {
  V16 total[kRows][kVecs];
  for (std::int64_t first = 0; first < values.count; first += kPositions) {
    V16 sum[kRows][kVecs];
    zero(sum);
    weigh_columns<kRows, kVecs>(weights + first, weights_stride, values.rows[first] + column,
                                values.rows.stride, std::min(kPositions, values.count - first),
                                sum);
    add_block_sum(first == 0, sum, total);
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVecs; ++c) {
      store16(mul(total[r][c], set16(scale[r])), y[r] + column + c * 16);
    }
  }
}

/// y[r] = scale[r] * the sum over j of weights[r][j] values[j], block by block. Requires at least
/// one value.
template <int kRows>
HWY_INLINE void weigh_rows(const float* weights, std::int64_t weights_stride,
                           const ValueRows& values, const float (&scale)[kRows], cpu::Rows y) {
  constexpr int kVecs = kWide ? 2 : 1;
  std::int64_t c = 0;
  for (; c + kVecs * 16 <= values.width; c += kVecs * 16) {
    weigh_rows_columns<kRows, kVecs>(weights, weights_stride, values, scale, c, y);
  }
  for (; c < values.width; c += 16) {
    weigh_rows_columns<kRows, 1>(weights, weights_stride, values, scale, c, y);
  }
}

/// Returns the sum of exp(score - largest) over a row's scores, block by block in page order.
/// store(page, exponentials) stores the exponentials and returns the values to sum.
template <typename F>
HWY_INLINE float sum_exponentials(const float* scores, std::int64_t pages, float largest,
                                  const F& store) {
  const V16 shift = set16(largest);
  V16 sum = zero16();
  for (std::int64_t first = 0; first < pages; first += kPositions / cpu::kPage) {
    V16 part = zero16();
    const std::int64_t end = std::min(first + kPositions / cpu::kPage, pages);
    for (std::int64_t p = first; p < end; ++p) {
      part = add(part, store(p, exp(sub(load16(scores + p * cpu::kPage), shift))));
    }
    sum = add(sum, part);
  }
  return sum_lanes(sum);
}

/// Replaces the scores of one row by exp(score - largest). Returns their sum and the largest score.
struct RowSoftmax {
  float largest, sum;
};
HWY_INLINE RowSoftmax softmax_scores(float* scores, std::int64_t pages) {
  V16 best = load16(scores);
  for (std::int64_t p = 1; p < pages; ++p) best = max(best, load16(scores + p * cpu::kPage));
  const float largest = max_lane(best);
  const float sum = sum_exponentials(scores, pages, largest, [&](std::int64_t p, const V16& e) {
    store16(e, scores + p * cpu::kPage);
    return e;
  });
  return {largest, sum};
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#endif  // LIE_MODEL_CPU_ATTENTION_INL_H
