// The feed-forward half of a block: down(silu(gate(x)) * up(x)), forward and backward.
#pragma once

#include <cstdint>
#include <span>

#include "model/layers/activations.h"
#include "model/layers/linear.h"

namespace lie {

struct FeedForward {
  Linear gate_up;  // [2F, D]
  Linear down;     // [D, F]

  /// Computes gate_up from t.normed.
  void forward_gate_up(Operators& ops, const BlockTensors& t) const;
  /// Computes t.out, which is t.middle plus the output, from t.gate_up.
  void forward_down(Operators& ops, const BlockTensors& t) const;
  /// Computes d.activated and d.gate_up from d.x, the gradient of the output. Adds the gradient of
  /// `down`. Overwrites t.activated.
  void backward_down(Operators& ops, const BlockTensors& t, std::span<const std::int32_t> starts,
                     const BlockGradients& d, const RoleTensors& gradient) const;
  /// Computes d.normed from d.gate_up, and adds the gradient of `gate_up`. t.normed is the input.
  void backward_gate_up(Operators& ops, const BlockTensors& t, std::span<const std::int32_t> starts,
                        const BlockGradients& d, const RoleTensors& gradient) const;
};

FeedForward make_feed_forward(std::span<const Parameter> layout, std::int64_t layer);

}  // namespace lie
