#include "model/layers/low_rank.h"

namespace lie {

void LowRank::compute_hidden(Operators& ops, Tensor x, Tensor hidden) const {
  const Tensor all = hidden.cols_at(0, cols());
  ops.linear(x, *a, all);
  if (scale != 1) ops.scale(all, scale);
}

void LowRank::add(Operators& ops, Tensor x, Tensor y, Tensor hidden) const {
  if (pairs.empty() || hidden.empty()) return;
  compute_hidden(ops, x, hidden);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Tensor part = y.cols_at(pairs[i].first_out, pairs[i].rows);
    ops.linear_add(of_pair(hidden, i), *pairs[i].b, part, part);
  }
}

void LowRank::compute_d_hidden(Operators& ops, Tensor dy, Tensor d_hidden) const {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ops.linear_backward_input(dy.cols_at(pairs[i].first_out, pairs[i].rows), *pairs[i].b,
                              of_pair(d_hidden, i));
  }
  if (scale != 1) ops.scale(d_hidden.cols_at(0, cols()), scale);
}

void LowRank::add_backward_input(Operators& ops, Tensor dy, Tensor dx, Tensor d_hidden) const {
  if (pairs.empty() || d_hidden.empty()) return;
  compute_d_hidden(ops, dy, d_hidden);
  ops.linear_backward_input_add(d_hidden.cols_at(0, cols()), *a, dx);
}

void LowRank::backward_weight(Operators& ops, Tensor dy, Tensor x,
                              std::span<const std::int32_t> starts, Tensor hidden, Tensor d_hidden,
                              const RoleTensors& gradient) const {
  if (pairs.empty() || hidden.empty()) return;
  compute_hidden(ops, x, hidden);
  compute_d_hidden(ops, dy, d_hidden);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const LowRankPair& pair = pairs[i];
    ops.linear_backward_weight(dy.cols_at(pair.first_out, pair.rows), of_pair(hidden, i), starts,
                               gradient[pair.roles.b]);
    ops.linear_backward_weight(of_pair(d_hidden, i), x, starts, gradient[pair.roles.a]);
  }
}

}  // namespace lie
