#include "model/layers/block.h"

namespace lie {

Block make_block(const ModelConfig& config, std::span<const Parameter> layout, std::int64_t layer) {
  return {.eps = static_cast<float>(config.rms_norm_eps),
          .input_norm = {},
          .post_norm = {},
          .attention = make_attention(config, layout, layer),
          .feed_forward = make_feed_forward(layout, layer)};
}

void add_pairs(const ModelConfig& config, std::span<const Parameter> adapter, std::int64_t layer,
               Block& block) {
  for (Linear* linear : linears_of(block)) add_pairs(adapter, layer, *config.lora, *linear);
}

template <typename Rows>
void Block::forward_to_gate_up(Operators& ops, const BlockTensors& t, const Rows& rows) const {
  ops.rms_norm(t.x, input_norm, eps, t.normed, t.inverse_rms_1);
  attention.forward(ops, t, rows);
  ops.rms_norm(t.middle, post_norm, eps, t.normed, t.inverse_rms_2);
  feed_forward.forward_gate_up(ops, t);
}

template <typename Rows>
void Block::forward(Operators& ops, const BlockTensors& t, const Rows& rows) const {
  forward_to_gate_up(ops, t, rows);
  feed_forward.forward_down(ops, t);
}

template void Block::forward(Operators&, const BlockTensors&, const PackedRows&) const;
template void Block::forward(Operators&, const BlockTensors&, const PagedRows&) const;

void Block::recompute(Operators& ops, const BlockTensors& t, const PackedRows& rows) const {
  forward_to_gate_up(ops, t, rows);
}

void Block::backward(Operators& ops, const BlockTensors& t, const PackedRows& rows,
                     const BlockGradients& d, const RoleTensors& gradient) const {
  feed_forward.backward_down(ops, t, rows.sequences.starts, d, gradient);
  ops.rms_norm(t.middle, post_norm, eps, t.normed, {});
  feed_forward.backward_gate_up(ops, t, rows.sequences.starts, d, gradient);
  ops.rms_norm_backward(d.normed, t.middle, post_norm, t.inverse_rms_2, d.x,
                        gradient[ParameterRole::kPostNorm]);

  attention.backward_heads(ops, t, rows, d, gradient);
  ops.rms_norm(t.x, input_norm, eps, t.normed, {});
  attention.backward_qkv(ops, t, rows, d, gradient);
  ops.rms_norm_backward(d.normed, t.x, input_norm, t.inverse_rms_1, d.x,
                        gradient[ParameterRole::kInputNorm]);
}

}  // namespace lie
