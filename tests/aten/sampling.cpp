#include "tests/aten/sampling.h"

#include <algorithm>

#include "tests/aten/rows.h"

namespace lie::aten {
namespace {

enum DrawColumn : std::int64_t {
  kRow,
  kInverseTemperature,
  kTopP,
  kTopK,
  kUniform,
  kGreedy,
  kColumns
};

/// Returns the draws as a table [kColumns, R] float64.
at::Tensor table_of(std::span<const Draw> draws) {
  at::Tensor whole = at::empty({kColumns, std::ssize(draws)}, at::kDouble);
  auto table = whole.accessor<double, 2>();
  for (std::int64_t i = 0; i < std::ssize(draws); ++i) {
    const Draw& draw = draws[static_cast<std::size_t>(i)];
    table[kRow][i] = static_cast<double>(draw.row);
    table[kInverseTemperature][i] = static_cast<double>(1.0F / draw.log_prob_temperature());
    table[kTopP][i] = draw.top_p;
    table[kTopK][i] = static_cast<double>(draw.top_k);
    table[kUniform][i] = static_cast<double>(random_uniform(draw.key));
    table[kGreedy][i] = draw.greedy() ? 1 : 0;
  }
  return whole;
}

/// Returns for each row the first index whose cumulative probability exceeds `share` [R] of `total`
/// [R].
at::Tensor place_of(const at::Tensor& cumulative, const at::Tensor& share,
                    const at::Tensor& total) {
  const at::Tensor wanted = (share * total).unsqueeze(1);
  return at::searchsorted(cumulative, wanted, /*out_int32=*/false, /*right=*/true)
      .clamp_max(cumulative.size(1) - 1);
}

at::Tensor draw_from_all(const at::Tensor& probabilities, const at::Tensor& uniforms) {
  const at::Tensor cumulative = probabilities.cumsum(1, at::kDouble);
  return place_of(cumulative, uniforms, cumulative.select(1, -1)).squeeze(1);
}

/// Draws from the fewest tokens that hold `top_p` of the probability of the `top_k` likeliest
/// tokens (0: all tokens) of each row.
at::Tensor draw_from_likeliest(const at::Tensor& probabilities, const at::Tensor& top_p,
                               const at::Tensor& top_k, const at::Tensor& uniforms) {
  const auto [sorted, ids] = at::sort(probabilities, /*stable=*/true, 1, /*descending=*/true);
  const at::Tensor rank = at::arange(sorted.size(1), top_k.options()).unsqueeze(0);
  const at::Tensor no_limit = top_k.eq(0).unsqueeze(1);
  const at::Tensor allowed = rank.lt(top_k.unsqueeze(1)).logical_or(no_limit);
  const at::Tensor cumulative = (sorted.to(at::kDouble) * allowed).cumsum(1);
  const at::Tensor whole =
      at::where(no_limit.squeeze(1), at::ones_like(top_p), cumulative.select(1, -1));
  // A token is kept while the tokens before it hold less than their share. The first one is always
  // kept.
  const at::Tensor before = at::constant_pad_nd(cumulative.slice(1, 0, -1), {1, 0});
  const at::Tensor kept =
      allowed.logical_and(before.lt((top_p * whole).unsqueeze(1)).logical_or(rank.eq(0)));
  const at::Tensor total = at::where(kept, cumulative, at::zeros_like(cumulative)).amax(1);
  const at::Tensor place =
      at::minimum(place_of(cumulative, uniforms, total), kept.sum(1, /*keepdim=*/true) - 1);
  return ids.gather(1, place).squeeze(1);
}

}  // namespace

Sampled sample(const at::Tensor& logits, std::span<const Draw> draws) {
  const auto columns = table_of(draws).unbind(0);
  const at::Tensor &top_p = columns[kTopP], &top_k = columns[kTopK], &uniforms = columns[kUniform];
  const at::Tensor z = logits.index_select(0, columns[kRow].to(at::kLong)).to(at::kFloat) *
                       columns[kInverseTemperature].to(at::kFloat).unsqueeze(1);
  const at::Tensor log_sum = at::logsumexp(z, {1});
  const at::Tensor probabilities = (z - log_sum.unsqueeze(1)).exp();
  at::Tensor ids = draw_from_all(probabilities, uniforms);
  // A sort or another pass over the vocabulary is done only if a draw requires it.
  if (!std::ranges::all_of(draws, &Draw::from_all)) {
    const at::Tensor from_all = top_p.ge(1).logical_and(top_k.eq(0));
    ids = at::where(from_all, ids, draw_from_likeliest(probabilities, top_p, top_k, uniforms));
  }
  if (std::ranges::any_of(draws, &Draw::greedy)) {
    ids = at::where(columns[kGreedy].ne(0), z.argmax(1), ids);
  }
  return {ids, target_log_probs(z, ids, log_sum)};
}

}  // namespace lie::aten
