// Attention backward in bf16 of one packed sequence and KV head. The probabilities are recomputed
// from log_sum; the formulas are in attention_backward_kernels.cpp. Scores are computed transposed,
// [positions, queries], page by page. Their rows are then the left operands of dV and dK. Pairs of
// rows are the right operands of dQ, which is transposed as well.
#include "model/cpu/kernels/bf16_attention_kernels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/kernels/bf16_attention_backward_kernels.cpp"
#include "hwy/foreach_target.h"
#include "model/cpu/kernels/bf16_attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::SequenceAttention, cpu::SequenceAttentionGradient, cpu::TilePages;

/// Scratch memory of one sequence. `count` is its length rounded up to whole pages. The pages `q`
/// hold the queries both as keys and as values, and the pages `d_y` hold dy in the same way.
struct GradientScratch {
  GradientScratch(float* at, std::int64_t pages, std::int64_t width)
      : count(pages * kPage),
        d_q(at),
        log_sums(d_q + count * width),
        centers(log_sums + count),
        scores(centers + count),
        d_weights(scores + kPage * count),
        sums(d_weights + kPage * count),
        k(reinterpret_cast<std::uint16_t*>(sums + kPage * width)),
        v(k + count * width),
        k_transposed(v + count * width),
        q(k_transposed + count * width),
        d_y(q + 2 * count * width),
        pairs(d_y + 2 * count * width) {}
  static std::int64_t floats(std::int64_t pages, std::int64_t width) {
    return pages * kPage * (width + 2 + 2 * kPage + (7 * width + kPage) / 2) + kPage * width;
  }

  std::int64_t count;
  float* d_q;                   // [pages][E][16 queries]
  float *log_sums, *centers;    // [count]
  float *scores, *d_weights;    // [16 positions][count], later overwritten by bf16 numbers
  float* sums;                  // [16 positions][E]
  std::uint16_t *k, *v;         // [count][E]
  std::uint16_t* k_transposed;  // [pages][E][16 positions]
  std::uint16_t *q, *d_y;       // [pages, 2, 16, E]
  std::uint16_t* pairs;         // [pages][8 pairs of positions, 16 queries, 2]
};

/// Returns dy . y, with dy rounded as in the gradients of the weights. A rounding error common to
/// all positions of a row then cancels in the gradients of the scores.
HWY_INLINE float center_of(const float* dy, const float* y, std::int64_t width) {
  V16 sum = zero16();
  for (std::int64_t i = 0; i < width; i += 16)
    sum = fma(rounded(load16(dy + i)), load16(y + i), sum);
  return sum_lanes(sum);
}

/// Writes up to 16 rows rounded and transposed, [width][16], padded with zeros.
HWY_INLINE void transpose_page_rounded(Rows rows, std::int64_t count, std::int64_t width,
                                       std::uint16_t* to) {
  for (std::int64_t c = 0; c < width; c += 16, to += 16 * kPage) {
    alignas(64) std::uint16_t pairs[16 * kPage];
    pack_values({rows.data + c, rows.stride}, count, 16, pairs);
    for (std::int64_t j = 0; j < kPage / 2; j += 4) {
      W16 four[4];
      for (int i = 0; i < 4; ++i) four[i] = load_words(pairs + (j + i) * 32);
      store_columns(four, reinterpret_cast<std::uint32_t*>(to) + j, kPage / 2);
    }
  }
}

/// Collects the inputs of one head: query and dy pages, log-sums and dy . y. Padding queries get
/// probability 0.
HWY_INLINE void gather_head(const SequenceAttentionGradient& job, std::int64_t head,
                            const GradientScratch& to) {
  const SequenceAttention& f = job.forward;
  const std::int64_t col = head * f.head_width;
  const Rows q{f.q.data + col, f.q.stride}, d_y{job.dy.data + col, job.dy.stride};
  pack_pages(q, q, f.length, f.head_width, to.q);
  pack_pages(d_y, d_y, f.length, f.head_width, to.d_y);
  for (std::int64_t t = 0; t < f.length; ++t) {
    to.log_sums[t] = f.log_sum[t][head];
    to.centers[t] = center_of(d_y[t], f.y[t] + col, f.head_width);
  }
  std::fill(to.log_sums + f.length, to.log_sums + to.count, INFINITY);
  std::fill(to.centers + f.length, to.centers + to.count, 0.0f);
  std::fill_n(to.d_q, to.count * f.head_width, 0.0f);
}

/// For position `j` of a page and the queries of page `t`: replaces the scores by rounded weights,
/// and the gradients of the weights by rounded gradients of the scores. Returns the latter before
/// rounding.
HWY_INLINE V16 score_gradients(const GradientScratch& s, float scale, std::int64_t j, bool diagonal,
                               std::int64_t t, std::int64_t at) {
  float* score = s.scores + j * s.count + at;
  const V16 shifted = sub(mul(load16(score), set16(scale)), load16(s.log_sums + t * kPage));
  V16 weight = exp(shifted);
  if (diagonal) weight = drop_first(weight, j);
  const V16 d_weight = sub(load16(s.d_weights + j * s.count + at), load16(s.centers + t * kPage));
  const V16 d_score = mul(mul(weight, d_weight), set16(scale));
  store_rounded(weight, reinterpret_cast<std::uint16_t*>(s.scores + j * s.count) + at);
  store_rounded(d_score, reinterpret_cast<std::uint16_t*>(s.d_weights + j * s.count) + at);
  return d_score;
}

/// to [rows, width] = sums, or += sums if `add_to`.
HWY_INLINE void store_or_add(const float* sums, std::int64_t rows, std::int64_t width, bool add_to,
                             Rows to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < width; c += 16) {
      const V16 sum = load16(sums + r * width + c);
      float* at = to[r] + c;
      store16(add_to ? add(load16(at), sum) : sum, at);
    }
  }
}

/// Stores the gradients of up to 16 queries from `first` on.
HWY_INLINE void store_d_q(const GradientScratch& s, std::int64_t first, std::int64_t rows,
                          std::int64_t width, Rows to) {
  const auto* page = reinterpret_cast<const std::uint16_t*>(s.d_q + first * width);
  for (std::int64_t d = 0; d < width; d += 4) {
    W16 four[4];
    for (int i = 0; i < 4; ++i) four[i] = load_words(page + (d + i) * 2 * kPage);
    store_columns(four, reinterpret_cast<std::uint32_t*>(s.sums + d), width);
  }
  store_or_add(s.sums, rows, width, false, to);
}

/// Computes the gradients between one page's positions and the queries that see them, for one head.
HWY_INLINE void page_gradients(const SequenceAttentionGradient& job, std::int64_t head,
                               std::int64_t page, const GradientScratch& s) {
  const SequenceAttention& f = job.forward;
  const std::int64_t width = f.head_width, pages = s.count / kPage;
  const TilePages every{width, s.q, 2 * kPage * width, nullptr, pages};
  const TilePages q = every.from(page);
  TilePages d_y = q;
  d_y.first = s.d_y + page * d_y.stride;
  cpu::multiply_keys(q, {s.k + page * kPage * width, width, kPage}, s.scores, s.count);
  cpu::multiply_keys(d_y, {s.v + page * kPage * width, width, kPage}, s.d_weights, s.count);
  for (std::int64_t j = 0; j < kPage; j += 2) {
    for (std::int64_t t = page; t < pages; ++t) {
      const std::int64_t at = (t - page) * kPage;
      const V16 low = score_gradients(s, f.scale, j, t == page, t, at);
      const V16 high = score_gradients(s, f.scale, j + 1, t == page, t, at);
      store_words(rounded_pairs(low, high),
                  reinterpret_cast<std::uint32_t*>(s.pairs + at * kPage) + j / 2 * 16);
    }
  }
  const std::int64_t rows = std::min(f.length - page * kPage, kPage), first = page * kPage;
  const auto left = [&](float* at) {
    return cpu::TileRowsOf{reinterpret_cast<std::uint16_t*>(at), 2 * s.count, kPage};
  };
  cpu::multiply_values(d_y, left(s.scores), s.sums, width);
  store_or_add(s.sums, rows, width, head > 0, {job.dv[first], job.dv.stride});
  cpu::multiply_values(q, left(s.d_weights), s.sums, width);
  store_or_add(s.sums, rows, width, head > 0, {job.dk[first], job.dk.stride});
  for (std::int64_t t = page; t < pages; ++t) {
    cpu::add_matmul_of_16(width, s.k_transposed + first * width,
                          s.pairs + (t - page) * kPage * kPage, s.d_q + t * kPage * width);
  }
}

std::int64_t sequence_gradient_scratch_in_bf16(std::int64_t length, std::int64_t width) {
  return GradientScratch::floats(pages_of(length), width);
}

void attend_sequence_backward_in_bf16(const SequenceAttentionGradient& job, float* scratch) {
  const SequenceAttention& f = job.forward;
  const GradientScratch s(scratch, pages_of(f.length), f.head_width);
  round_rows(f.k.data, f.k.stride, f.length, s.count, f.head_width, s.k);
  round_rows(f.v.data, f.v.stride, f.length, s.count, f.head_width, s.v);
  for (std::int64_t t = 0; t < f.length; t += kPage) {
    transpose_page_rounded({f.k[t], f.k.stride}, std::min(kPage, f.length - t), f.head_width,
                           s.k_transposed + t * f.head_width);
  }
  const cpu::AttentionUnit unit(kPage);
  for (std::int64_t head = 0; head < f.group; ++head) {
    gather_head(job, head, s);
    for (std::int64_t page = 0; page < s.count / kPage; ++page) page_gradients(job, head, page, s);
    for (std::int64_t t = 0; t < f.length; t += kPage) {
      store_d_q(s, t, std::min(f.length - t, kPage), f.head_width,
                {job.dq[t] + head * f.head_width, job.dq.stride});
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(sequence_gradient_scratch_in_bf16);
HWY_EXPORT(attend_sequence_backward_in_bf16);

namespace cpu {

std::int64_t sequence_gradient_scratch_in_bf16(std::int64_t length, std::int64_t head_width) {
  return HWY_DYNAMIC_DISPATCH(lie::sequence_gradient_scratch_in_bf16)(length, head_width);
}

void attend_sequence_backward_in_bf16(const SequenceAttentionGradient& job, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lie::attend_sequence_backward_in_bf16)(job, scratch);
}

}  // namespace cpu
}  // namespace lie
#endif
