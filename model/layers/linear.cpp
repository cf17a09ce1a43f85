#include "model/layers/linear.h"

#include <utility>

namespace lie {

Linear make_linear(std::span<const Parameter> layout, std::int64_t layer,
                   std::vector<Projection> projections) {
  Linear made;
  for (Projection& p : projections) {
    const Parameter& weight = parameter_of(layout, layer, p.weight);
    p.rows = weight.rows;
    made.in = weight.cols;
  }
  made.projections = std::move(projections);
  return made;
}

void add_pairs(std::span<const Parameter> adapter, std::int64_t layer, const LoraConfig& lora,
               Linear& linear) {
  LowRank& pairs = linear.low_rank;
  pairs.rank = lora.rank;
  pairs.in = linear.in;
  pairs.scale = lora.scale();
  std::int64_t first = 0;
  for (const Projection& p : linear.projections) {
    const PairRoles roles = pair_of(p.weight);
    if (has_parameter(adapter, layer, roles.a)) pairs.pairs.push_back({roles, first, p.rows, {}});
    first += p.rows;
  }
}

std::int64_t Linear::out() const {
  std::int64_t rows = 0;
  for (const Projection& p : projections) rows += p.rows;
  return rows;
}

void Linear::add_biases(Operators& ops, Tensor y) const {
  std::int64_t first = 0;
  for (const Projection& p : projections) {
    if (p.bias_role) ops.add_bias(y.cols_at(first, p.rows), p.bias);
    first += p.rows;
  }
}

void Linear::forward(Operators& ops, Tensor x, Tensor y, Tensor hidden) const {
  ops.linear(x, *matrix, y);
  add_biases(ops, y);
  low_rank.add(ops, x, y, hidden);
}

void Linear::forward_add(Operators& ops, Tensor x, Tensor residual, Tensor y, Tensor hidden) const {
  ops.linear_add(x, *matrix, residual, y);
  add_biases(ops, y);
  low_rank.add(ops, x, y, hidden);
}

void Linear::backward_input(Operators& ops, Tensor dy, Tensor dx, Tensor d_hidden) const {
  ops.linear_backward_input(dy, *matrix, dx);
  low_rank.add_backward_input(ops, dy, dx, d_hidden);
}

void Linear::backward_weight(Operators& ops, Tensor dy, Tensor x,
                             std::span<const std::int32_t> starts, Tensor hidden, Tensor d_hidden,
                             const RoleTensors& gradient) const {
  if (!gradient[projections.front().weight].empty()) {
    backward_matrix(ops, dy, x, starts, gradient);
  }
  low_rank.backward_weight(ops, dy, x, starts, hidden, d_hidden, gradient);
}

/// Projections that are also adjacent in the gradient share one matmul. Without biases all are.
void Linear::backward_matrix(Operators& ops, Tensor dy, Tensor x,
                             std::span<const std::int32_t> starts,
                             const RoleTensors& gradient) const {
  std::int64_t first = 0;
  for (const Projection& p : projections) {
    if (p.bias_role) ops.add_bias_backward(dy.cols_at(first, p.rows), gradient[*p.bias_role]);
    first += p.rows;
  }
  first = 0;
  for (auto p = projections.begin(); p != projections.end();) {
    Tensor stack = gradient[p->weight];
    for (++p; p != projections.end(); ++p) {
      const Tensor next = gradient[p->weight];
      if (stack.rows_at(stack.rows, 0).data != next.data) break;
      stack.rows += next.rows;
    }
    ops.linear_backward_weight(dy.cols_at(first, stack.rows), x, starts, stack);
    first += stack.rows;
  }
}

}  // namespace lie
