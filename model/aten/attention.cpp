// Queries are processed in slices, so that the scores of a slice against all earlier keys stay
// below a fixed size for any sequence length. The query heads of one kv-head are treated as
// additional queries of it, so that keys and values are never repeated.
#include "model/aten/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lie::aten {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kSliceScores = std::int64_t{16} << 20;  // elements

/// One sequence in fp32, by kv-head: queries [K, G, n, E], keys and values [K, n, E].
struct Heads {
  at::Tensor q, k, v;
};

/// Converts [n, K*G*E] to [K, G, n, E] in fp32.
at::Tensor query_heads(const at::Tensor& x, const AttentionShape& shape) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  return x.to(at::kFloat)
      .reshape({x.size(0), shape.kv_heads, group, shape.head_width})
      .permute({1, 2, 0, 3});
}

/// Converts [n, K*E] to [K, n, E] in fp32.
at::Tensor kv_heads(const at::Tensor& x, const AttentionShape& shape) {
  return x.to(at::kFloat).reshape({x.size(0), shape.kv_heads, shape.head_width}).transpose(0, 1);
}

/// Converts [n, H] to [K, G, n].
at::Tensor query_statistics(const at::Tensor& x, const AttentionShape& shape) {
  return x.reshape({x.size(0), shape.kv_heads, shape.heads / shape.kv_heads}).permute({1, 2, 0});
}

/// Converts [K, G, n, E] to [n, H*E], and [K, n, E] to [n, K*E].
at::Tensor by_row(const at::Tensor& x) {
  const at::Tensor rows = x.dim() == 4 ? x.permute({2, 0, 1, 3}) : x.transpose(0, 1);
  return rows.flatten(1);
}

Heads split_heads(const at::Tensor& rotated, const at::Tensor& values,
                  const AttentionShape& shape) {
  return {query_heads(rotated.narrow(1, 0, shape.q_cols()), shape),
          kv_heads(rotated.narrow(1, shape.q_cols(), shape.kv_cols()), shape),
          kv_heads(values, shape)};
}

/// The queries [first, end) of a sequence, which see the keys [0, end).
struct Slice {
  std::int64_t first, end;

  std::int64_t rows() const { return end - first; }
  /// Rows of [K, G, n, ...] as queries of their kv-head: [K, G * rows, ...].
  at::Tensor queries(const at::Tensor& x) const { return x.narrow(2, first, rows()).flatten(1, 2); }
  at::Tensor keys(const at::Tensor& x) const { return x.narrow(1, 0, end); }  // [K, end, E]
};

template <typename Visit>
void each_slice(std::int64_t n, const AttentionShape& shape, const Visit& visit) {
  const std::int64_t rows = std::clamp<std::int64_t>(kSliceScores / (shape.heads * n), 1, n);
  for (std::int64_t first = 0; first < n; first += rows) {
    visit(Slice{first, std::min(first + rows, n)});
  }
}

/// Returns scaled scores [K, G * rows, end], which are minus infinity where the key comes after the
/// query.
at::Tensor causal_scores(const Heads& heads, const Slice& slice, const AttentionShape& shape) {
  const auto options = heads.q.options().dtype(at::kLong);
  const at::Tensor later = at::arange(slice.end, options).unsqueeze(0) >
                           at::arange(slice.first, slice.end, options).unsqueeze(1);
  at::Tensor scores = at::bmm(slice.queries(heads.q), slice.keys(heads.k).transpose(1, 2));
  scores.mul_(score_scale(shape));
  scores.view({shape.kv_heads, -1, slice.rows(), slice.end}).masked_fill_(later, kMinusInfinity);
  return scores;
}

/// Computes attention of one sequence and writes its rows.
void attend_sequence(const Heads& heads, const AttentionShape& shape, const AttentionOutput& to) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  each_slice(heads.k.size(1), shape, [&](const Slice& slice) {
    at::Tensor scores = causal_scores(heads, slice, shape);
    const at::Tensor log_sum = at::logsumexp(scores, {2}, /*keepdim=*/true);
    const at::Tensor y = at::bmm(scores.sub_(log_sum).exp_(), slice.keys(heads.v));
    const auto rows = [&](const at::Tensor& x) { return x.narrow(0, slice.first, slice.rows()); };
    rows(to.y).copy_(by_row(y.view({shape.kv_heads, group, slice.rows(), shape.head_width})));
    rows(to.log_sum)
        .copy_(log_sum.view({shape.kv_heads, group, slice.rows()}).permute({2, 0, 1}).flatten(1));
  });
}

/// Returns d(loss)/d(scores before scaling) of a slice from the probabilities p: scale * p (dp -
/// dy.y).
at::Tensor score_gradient(const at::Tensor& p, const at::Tensor& dy, const at::Tensor& y,
                          const at::Tensor& v, const AttentionShape& shape) {
  at::Tensor ds = at::bmm(dy, v.transpose(1, 2));
  ds.sub_((dy * y).sum(2, /*keepdim=*/true)).mul_(p).mul_(score_scale(shape));
  return ds;
}

/// Computes the gradients of one sequence and writes its rows. `dy` and `y` [K, G, n, E], `log_sum`
/// [K, G, n].
void attend_sequence_backward(const Heads& heads, const at::Tensor& dy, const at::Tensor& y,
                              const at::Tensor& log_sum, const AttentionShape& shape,
                              const AttentionGradient& to) {
  at::Tensor dk = at::zeros(heads.k.sizes(), heads.k.options()), dv = at::zeros_like(dk);
  each_slice(heads.k.size(1), shape, [&](const Slice& slice) {
    at::Tensor p = causal_scores(heads, slice, shape);
    p.sub_(slice.queries(log_sum).unsqueeze(2)).exp_();
    const at::Tensor dy_here = slice.queries(dy), q = slice.queries(heads.q);
    slice.keys(dv).add_(at::bmm(p.transpose(1, 2), dy_here));
    const at::Tensor ds = score_gradient(p, dy_here, slice.queries(y), slice.keys(heads.v), shape);
    slice.keys(dk).add_(at::bmm(ds.transpose(1, 2), q));
    const at::Tensor dq =
        at::bmm(ds, slice.keys(heads.k)).view({shape.kv_heads, -1, slice.rows(), shape.head_width});
    to.d_rotated.narrow(0, slice.first, slice.rows())
        .narrow(1, 0, shape.q_cols())
        .copy_(by_row(dq));
  });
  to.d_rotated.narrow(1, shape.q_cols(), shape.kv_cols()).copy_(by_row(dk));
  to.d_values.copy_(by_row(dv));
}

at::Tensor float_rows(const at::Tensor& like, std::int64_t cols) {
  return at::empty({like.size(0), cols}, like.options().dtype(at::kFloat));
}

/// Calls visit(rows) for each nonempty sequence. rows(x) returns x's rows of that sequence.
template <typename Visit>
void each_sequence(std::span<const std::int32_t> starts, const Visit& visit) {
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::int64_t first = starts[s], count = starts[s + 1] - starts[s];
    if (count > 0) visit([&](const at::Tensor& x) { return x.narrow(0, first, count); });
  }
}

}  // namespace

double score_scale(const AttentionShape& shape) {
  return 1.0 / std::sqrt(static_cast<double>(shape.head_width));
}

AttentionOutput attention(const at::Tensor& rotated, const at::Tensor& values,
                          const AttentionShape& shape, std::span<const std::int32_t> starts) {
  const AttentionOutput all{float_rows(rotated, shape.q_cols()), float_rows(rotated, shape.heads)};
  each_sequence(starts, [&](const auto& rows) {
    attend_sequence(split_heads(rows(rotated), rows(values), shape), shape,
                    {rows(all.y), rows(all.log_sum)});
  });
  return all;
}

AttentionGradient attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                     const at::Tensor& values, const at::Tensor& y,
                                     const at::Tensor& log_sum, const AttentionShape& shape,
                                     std::span<const std::int32_t> starts) {
  const AttentionGradient all{float_rows(rotated, shape.q_cols() + shape.kv_cols()),
                              float_rows(rotated, shape.kv_cols())};
  each_sequence(starts, [&](const auto& rows) {
    attend_sequence_backward(split_heads(rows(rotated), rows(values), shape),
                             query_heads(rows(dy), shape), query_heads(rows(y), shape),
                             query_statistics(rows(log_sum), shape), shape,
                             {rows(all.d_rotated), rows(all.d_values)});
  });
  return all;
}

}  // namespace lie::aten
