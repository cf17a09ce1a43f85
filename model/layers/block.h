// One block of the transformer: the order of norms, halves and residuals, forward and backward.
// Qwen3, Qwen2 and Llama share it. A family with another order gets a block of its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/layers/attention.h"
#include "model/layers/feed_forward.h"

namespace lie {

struct Block {
  float eps = 0;                 // of the norms
  Tensor input_norm, post_norm;  // [1, D]
  Attention attention;
  FeedForward feed_forward;

  /// Computes t.out from t.x. `Rows` is PackedRows or PagedRows.
  template <typename Rows>
  void forward(Operators& ops, const BlockTensors& t, const Rows& rows) const;
  /// Computes again what backward() needs, with the bits of forward().
  void recompute(Operators& ops, const BlockTensors& t, const PackedRows& rows) const;
  /// Turns d.x from the gradient of t.out into that of t.x, and adds the gradients of the weights.
  /// Overwrites t.normed, t.activated and the rest of d.
  void backward(Operators& ops, const BlockTensors& t, const PackedRows& rows,
                const BlockGradients& d, const RoleTensors& gradient) const;

 private:
  template <typename Rows>
  void forward_to_gate_up(Operators& ops, const BlockTensors& t, const Rows& rows) const;
};

/// Returns the block of a layer, with all shapes but without weights.
Block make_block(const ModelConfig& config, std::span<const Parameter> layout, std::int64_t layer);

/// Returns the linear layers of a block. `AnyBlock` is Block or const Block.
template <typename AnyBlock>
auto linears_of(AnyBlock& block) {
  return std::array{&block.attention.qkv, &block.attention.o, &block.feed_forward.gate_up,
                    &block.feed_forward.down};
}

/// Gives the block's linear layers the pairs of config.lora, without weights. `adapter` is the
/// adapter's layout.
void add_pairs(const ModelConfig& config, std::span<const Parameter> adapter, std::int64_t layer,
               Block& block);

/// Calls vector(tensor, role) for each bias and norm that the block has.
template <typename OnVector>
void for_each_vector(Block& block, const OnVector& vector) {
  for (Linear* linear : linears_of(block)) {
    for (Projection& p : linear->projections) {
      if (p.bias_role) vector(p.bias, *p.bias_role);
    }
  }
  vector(block.input_norm, ParameterRole::kInputNorm);
  vector(block.post_norm, ParameterRole::kPostNorm);
  if (!block.attention.has_qk_norm) return;
  vector(block.attention.q_norm, ParameterRole::kQueryNorm);
  vector(block.attention.k_norm, ParameterRole::kKeyNorm);
}

}  // namespace lie
