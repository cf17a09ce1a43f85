#include "model/aten/aten_attention.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace lie::aten {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

double score_scale(const AttentionShape& shape) {
  return 1.0 / std::sqrt(static_cast<double>(shape.head_width));
}

/// [n, heads*E] -> [heads, n, E] in fp32.
at::Tensor by_head(const at::Tensor& x, std::int64_t heads, std::int64_t head_width) {
  return x.to(at::kFloat).reshape({x.size(0), heads, head_width}).transpose(0, 1);
}

/// [heads, n, E] -> [n, heads*E].
at::Tensor by_row(const at::Tensor& x) {
  return x.transpose(0, 1).reshape({x.size(1), x.size(0) * x.size(2)});
}

/// Each kv-head once for every query head of its group, and back: gradients of a group added.
at::Tensor spread_kv(const at::Tensor& x, const AttentionShape& shape) {
  return x.repeat_interleave(shape.heads / shape.kv_heads, 0);
}
at::Tensor gather_kv(const at::Tensor& dx, const AttentionShape& shape) {
  return dx.reshape({shape.kv_heads, shape.heads / shape.kv_heads, dx.size(1), dx.size(2)}).sum(1);
}

/// One sequence's rows, by query head.
struct Heads {
  at::Tensor q, k, v;  // [H, n, E]
};

Heads split_heads(const at::Tensor& rotated, const at::Tensor& values,
                  const AttentionShape& shape) {
  const at::Tensor q = rotated.narrow(1, 0, shape.q_cols());
  const at::Tensor k = rotated.narrow(1, shape.q_cols(), shape.kv_cols());
  return {by_head(q, shape.heads, shape.head_width),
          spread_kv(by_head(k, shape.kv_heads, shape.head_width), shape),
          spread_kv(by_head(values, shape.kv_heads, shape.head_width), shape)};
}

/// Scaled scores [H, n, n], minus infinity where the key comes after the query.
at::Tensor causal_scores(const Heads& heads, const AttentionShape& shape) {
  const std::int64_t n = heads.q.size(1);
  const at::Tensor later = at::ones({n, n}, heads.q.options().dtype(at::kBool)).triu(1);
  return (at::matmul(heads.q, heads.k.transpose(1, 2)) * score_scale(shape))
      .masked_fill(later, kMinusInfinity);
}

AttentionOutput sequence_attention(const Heads& heads, const AttentionShape& shape) {
  const at::Tensor scores = causal_scores(heads, shape);
  const at::Tensor log_sum = at::logsumexp(scores, {2}, /*keepdim=*/true);  // [H, n, 1]
  const at::Tensor y = at::matmul((scores - log_sum).exp(), heads.v);
  return {by_row(y), log_sum.squeeze(2).transpose(0, 1)};
}

AttentionGradient sequence_backward(const at::Tensor& dy, const Heads& heads, const at::Tensor& y,
                                    const at::Tensor& log_sum, const AttentionShape& shape) {
  const at::Tensor p =
      (causal_scores(heads, shape) - log_sum.transpose(0, 1).unsqueeze(2)).exp();  // [H, n, n]
  const at::Tensor dv = at::matmul(p.transpose(1, 2), dy);
  const at::Tensor dp = at::matmul(dy, heads.v.transpose(1, 2));
  const at::Tensor ds = p * (dp - (dy * y).sum(2, /*keepdim=*/true)) * score_scale(shape);
  const at::Tensor dq = at::matmul(ds, heads.k);
  const at::Tensor dk = at::matmul(ds.transpose(1, 2), heads.q);
  return {at::cat({by_row(dq), by_row(gather_kv(dk, shape))}, 1), by_row(gather_kv(dv, shape))};
}

}  // namespace

AttentionOutput attention(const at::Tensor& rotated, const at::Tensor& values,
                          const AttentionShape& shape, std::span<const std::int32_t> starts) {
  std::vector<at::Tensor> ys, log_sums;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::int64_t first = starts[s], rows = starts[s + 1] - starts[s];
    AttentionOutput part = sequence_attention(
        split_heads(rotated.narrow(0, first, rows), values.narrow(0, first, rows), shape), shape);
    ys.push_back(std::move(part.y));
    log_sums.push_back(std::move(part.log_sum));
  }
  return {at::cat(ys), at::cat(log_sums)};
}

AttentionGradient attention_backward(const at::Tensor& dy, const at::Tensor& rotated,
                                     const at::Tensor& values, const at::Tensor& y,
                                     const at::Tensor& log_sum, const AttentionShape& shape,
                                     std::span<const std::int32_t> starts) {
  std::vector<at::Tensor> d_rotated, d_values;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::int64_t first = starts[s], rows = starts[s + 1] - starts[s];
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, first, rows); };
    AttentionGradient gradient = sequence_backward(
        by_head(part(dy), shape.heads, shape.head_width),
        split_heads(part(rotated), part(values), shape),
        by_head(part(y), shape.heads, shape.head_width), part(log_sum), shape);
    d_rotated.push_back(std::move(gradient.d_rotated));
    d_values.push_back(std::move(gradient.d_values));
  }
  return {at::cat(d_rotated), at::cat(d_values)};
}

at::Tensor attention_decode(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const at::Tensor& table,
                            const at::Tensor& sequences, const at::Tensor& positions,
                            const AttentionShape& shape, std::int64_t longest) {
  const std::int64_t rows = queries.size(0), page = keys.size(1);
  const std::int64_t width = (longest + page - 1) / page;
  const at::Tensor pages =
      table.narrow(1, 0, width).index_select(0, sequences.to(at::kLong)).to(at::kLong).clamp_min(0);
  const auto gathered = [&](const at::Tensor& x) {  // [T, H, width * page, E]
    const at::Tensor flat = x.index_select(0, pages.reshape(-1)).to(at::kFloat);
    return flat.reshape({rows, width * page, shape.kv_heads, shape.head_width})
        .transpose(1, 2)
        .repeat_interleave(shape.heads / shape.kv_heads, 1);
  };
  const at::Tensor q =
      queries.to(at::kFloat).reshape({rows, shape.heads, 1, shape.head_width});
  const at::Tensor key_at = at::arange(width * page, positions.options());
  const at::Tensor later = key_at.unsqueeze(0) > positions.unsqueeze(1);  // [T, keys]
  const at::Tensor scores =
      (at::matmul(q, gathered(keys).transpose(2, 3)) * score_scale(shape))
          .masked_fill(later.reshape({rows, 1, 1, width * page}), kMinusInfinity);
  // Slots after a sequence's end may hold anything; a weight of 0 must not meet a NaN there.
  const at::Tensor v = gathered(values).masked_fill(later.reshape({rows, 1, width * page, 1}), 0);
  return at::matmul(at::softmax(scores, -1), v).reshape({rows, shape.q_cols()});
}

}  // namespace lie::aten
