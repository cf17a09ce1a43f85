// Attention forward. Per query: scores of all visible positions, their maximum, exponentials summed
// by lanes in page order, then values weighted in position order, block by block. The number of
// queries that share a pass over the keys changes no bits.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/attention_kernels.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::kPage, cpu::PagedAttention, cpu::SequenceAttention;

// ---- Over pages

HWY_INLINE const float* keys_of(const PagedAttention& job, std::int64_t page) {
  return static_cast<const float*>(job.part) + job.pages[page] * job.page_stride;
}
HWY_INLINE const float* values_of(const PagedAttention& job, std::int64_t page) {
  return keys_of(job, page) + kPage * job.head_width;
}

/// Returns what is read in step `i`: the keys of all pages come first, then their values. Hardware
/// prefetching does not work since pages are not contiguous.
HWY_INLINE const float* to_be_read(const PagedAttention& job, std::int64_t i) {
  const std::int64_t pages = pages_of(job.length);
  return i < pages ? keys_of(job, i) : values_of(job, std::min(i - pages, pages - 1));
}

/// Computes the scores of kHeads query heads for kPages pages from `page` on. Independent sums hide
/// each other's latency.
template <int kHeads, int kPages>
HWY_INLINE void score_pages(const PagedAttention& job, const float* q, std::int64_t page,
                            float* scores, std::int64_t scores_stride) {
  V16 s[kHeads][kPages];
  const float* keys[kPages];
  const float* ahead[kPages];
  for (int p = 0; p < kPages; ++p) {
    keys[p] = keys_of(job, page + p);
    ahead[p] = to_be_read(job, page + kPages + p);
    for (int h = 0; h < kHeads; ++h) s[h][p] = zero16();
  }
  for (std::int64_t d = 0; d < job.head_width; ++d) {
    for (int p = 0; p < kPages; ++p) {
      hwy::Prefetch(ahead[p] + d * kPage);
      const V16 k = load16(keys[p] + d * kPage);
      for (int h = 0; h < kHeads; ++h) s[h][p] = fma(set1(q[h * job.head_width + d]), k, s[h][p]);
    }
  }
  const V16 scale = set16(job.scale);
  for (int p = 0; p < kPages; ++p) {
    const std::int64_t at = (page + p) * kPage;
    for (int h = 0; h < kHeads; ++h) {
      const V16 scaled = keep_first(mul(s[h][p], scale), job.length - at, -INFINITY);
      store16(scaled, scores + h * scores_stride + at);
    }
  }
}

/// Prefetches the values [16][E] of a later page.
HWY_INLINE void prefetch_values(const PagedAttention& job, std::int64_t page) {
  if (page * kPage >= job.length) return;
  const float* values = values_of(job, page);
  for (std::int64_t i = 0; i < kPage * job.head_width; i += 16) hwy::Prefetch(values + i);
}

template <int kHeads, int kVecs>
HWY_INLINE void weigh_pages(const PagedAttention& job, const float* weights,
                            std::int64_t weights_stride, const float (&scale)[kHeads],
                            std::int64_t column, float* y) {
  V16 total[kHeads][kVecs];
  for (std::int64_t first = 0; first < job.length; first += kPositions) {
    V16 sum[kHeads][kVecs];
    zero(sum);
    const std::int64_t end = std::min(first + kPositions, job.length);
    for (std::int64_t at = first; at < end; at += kPage) {
      prefetch_values(job, at / kPage + 1);
      weigh_columns<kHeads, kVecs>(weights + at, weights_stride,
                                   values_of(job, at / kPage) + column, job.head_width,
                                   std::min(kPage, end - at), sum);
    }
    add_block_sum(first == 0, sum, total);
  }
  for (int h = 0; h < kHeads; ++h) {
    for (int c = 0; c < kVecs; ++c) {
      store16(mul(total[h][c], set16(scale[h])), y + h * job.head_width + column + c * 16);
    }
  }
}

template <int kHeads>
HWY_INLINE void attend_heads(const PagedAttention& job, std::int64_t head, float* scores) {
  constexpr int kPages = kWide ? 4 : 2;
  const std::int64_t pages = pages_of(job.length), stride = pages * kPage;
  const float* q = job.q + head * job.head_width;
  float* y = job.y + head * job.head_width;
  std::int64_t p = 0;
  for (; p + kPages <= pages; p += kPages) score_pages<kHeads, kPages>(job, q, p, scores, stride);
  for (; p < pages; ++p) score_pages<kHeads, 1>(job, q, p, scores, stride);
  float scale[kHeads];
  for (int h = 0; h < kHeads; ++h) scale[h] = 1.0f / softmax_scores(scores + h * stride, pages).sum;
  constexpr int kVecs = kWide ? 4 : 2;
  std::int64_t c = 0;
  for (; c + kVecs * 16 <= job.head_width; c += kVecs * 16) {
    weigh_pages<kHeads, kVecs>(job, scores, stride, scale, c, y);
  }
  for (; c + 32 <= job.head_width; c += 32)
    weigh_pages<kHeads, 2>(job, scores, stride, scale, c, y);
  for (; c < job.head_width; c += 16) weigh_pages<kHeads, 1>(job, scores, stride, scale, c, y);
}

void attend_pages(const PagedAttention& job, float* scratch) {
  std::int64_t head = 0;
  for (; head + 2 <= job.group; head += 2) attend_heads<2>(job, head, scratch);
  if (head < job.group) attend_heads<1>(job, head, scratch);
}

// ---- Over a packed sequence

struct QueryTile {
  const SequenceAttention* job;
  const float* keys;  // pages [E][16]
  float* scores;      // [rows][pages * 16]
  std::int64_t row, head;
};

template <int kRows>
HWY_INLINE void score_tile(const QueryTile& tile, const float* q, std::int64_t pages) {
  const SequenceAttention& job = *tile.job;
  const V16 scale = set16(job.scale);
  for (std::int64_t p = 0; p < pages; ++p) {
    V16 s[kRows];
    page_dot_products<kRows>(q, job.q.stride, tile.keys + p * kPage * job.head_width,
                             job.head_width, s);
    for (int r = 0; r < kRows; ++r) {
      const V16 scaled = keep_first(mul(s[r], scale), tile.row + r + 1 - p * kPage, -INFINITY);
      store16(scaled, tile.scores + (r * pages + p) * kPage);
    }
  }
}

template <int kRows>
HWY_NOINLINE void attend_tile(const QueryTile& tile) {
  const SequenceAttention& job = *tile.job;
  const std::int64_t width = job.head_width, count = tile.row + kRows, pages = pages_of(count);
  score_tile<kRows>(tile, job.q[tile.row] + tile.head * width, pages);
  float scale[kRows];
  for (int r = 0; r < kRows; ++r) {
    const RowSoftmax row = softmax_scores(tile.scores + r * pages * kPage, pages);
    scale[r] = 1.0f / row.sum;
    if (job.log_sum.data != nullptr) {
      job.log_sum[tile.row + r][tile.head] = row.largest + log(row.sum);
    }
  }
  weigh_rows<kRows>(tile.scores, pages * kPage, {job.v, count, width}, scale,
                    {job.y[tile.row] + tile.head * width, job.y.stride});
}

void attend_sequence(const SequenceAttention& job, float* scratch) {
  float* scores = scratch + pages_of(job.length) * kPage * job.head_width;
  transpose_sequence(job.k, job.length, job.head_width, scratch);
  for (std::int64_t head = 0; head < job.group; ++head) {
    for (std::int64_t row = 0; row < job.length; row += kTileRows) {
      const QueryTile tile{&job, scratch, scores, row, head};
      with_rows<kTileRows>(job.length - row, [&]<int kRows>() { attend_tile<kRows>(tile); });
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(attend_pages);
HWY_EXPORT(attend_sequence);

namespace cpu {

std::int64_t paged_attention_scratch(std::int64_t length, std::int64_t group, std::int64_t) {
  return (length + kPage) * std::min<std::int64_t>(group, 2);
}

void attend_pages(const PagedAttention& job, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::attend_pages)(job, scratch);
}

void store_position(const float* key, const float* value, std::int64_t head_width,
                    std::int64_t place, void* part) {
  auto* to = static_cast<float*>(part);
  for (std::int64_t d = 0; d < head_width; ++d) to[d * kPage + place] = key[d];
  std::copy_n(value, head_width, to + (kPage + place) * head_width);
}

std::int64_t sequence_attention_scratch(std::int64_t length, std::int64_t head_width) {
  constexpr std::int64_t kMaxTileRows = 8;
  return (length + kPage) * (head_width + kMaxTileRows);
}

void attend_sequence(const SequenceAttention& job, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::attend_sequence)(job, scratch);
}

}  // namespace cpu
}  // namespace lie
#endif
