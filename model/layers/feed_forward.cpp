#include "model/layers/feed_forward.h"

namespace lie {

FeedForward make_feed_forward(std::span<const Parameter> layout, std::int64_t layer) {
  using enum ParameterRole;
  return {make_linear(layout, layer, {{kGate}, {kUp}}), make_linear(layout, layer, {{kDown}})};
}

void FeedForward::forward_gate_up(Operators& ops, const BlockTensors& t) const {
  gate_up.forward(ops, t.normed, t.gate_up, t.low_rank);
}

void FeedForward::forward_down(Operators& ops, const BlockTensors& t) const {
  ops.swiglu(t.gate_up, t.activated);
  down.forward_add(ops, t.activated, t.middle, t.out, t.low_rank);
}

void FeedForward::backward_down(Operators& ops, const BlockTensors& t,
                                std::span<const std::int32_t> starts, const BlockGradients& d,
                                const RoleTensors& gradient) const {
  down.backward_input(ops, d.x, d.activated, d.low_rank);
  ops.swiglu_backward(d.activated, t.gate_up, d.gate_up, t.activated);
  down.backward_weight(ops, d.x, t.activated, starts, t.low_rank, d.low_rank, gradient);
}

void FeedForward::backward_gate_up(Operators& ops, const BlockTensors& t,
                                   std::span<const std::int32_t> starts, const BlockGradients& d,
                                   const RoleTensors& gradient) const {
  gate_up.backward_weight(ops, d.gate_up, t.normed, starts, t.low_rank, d.low_rank, gradient);
  gate_up.backward_input(ops, d.gate_up, d.normed, d.low_rank);
}

}  // namespace lie
