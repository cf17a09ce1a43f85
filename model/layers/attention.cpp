#include "model/layers/attention.h"

#include <optional>

namespace lie {

AttentionShape attention_shape(const ModelConfig& config) {
  return {config.heads, config.kv_heads, config.head_width};
}

Attention make_attention(const ModelConfig& config, std::span<const Parameter> layout,
                         std::int64_t layer) {
  using enum ParameterRole;
  const auto bias = [](bool has, ParameterRole role) {
    return has ? std::optional(role) : std::nullopt;
  };
  const bool qkv = config.qkv_bias;
  Attention made;
  made.shape = attention_shape(config);
  made.eps = static_cast<float>(config.rms_norm_eps);
  made.has_qk_norm = config.qk_norm;
  made.qkv = make_linear(layout, layer,
                         {{kQuery, bias(qkv, kQueryBias)},
                          {kKey, bias(qkv, kKeyBias)},
                          {kValue, bias(qkv, kValueBias)}});
  made.o = make_linear(layout, layer, {{kOutput, bias(config.output_bias, kOutputBias)}});
  return made;
}

QkNormRope Attention::rotation(Tensor rope, Indices positions) const {
  return {shape, q_norm, k_norm, eps, rope, positions};
}

void Attention::forward(Operators& ops, const BlockTensors& t, const PackedRows& rows) const {
  qkv.forward(ops, t.normed, t.qkv, t.low_rank);
  rotate(ops, t, rows);
  ops.attention(t.rotated, t.qkv, shape, rows.sequences, t.attended, t.log_sum);
  o.forward_add(ops, t.attended, t.x, t.middle, t.low_rank);
}

void Attention::forward(Operators& ops, const BlockTensors& t, const PagedRows& rows) const {
  qkv.forward(ops, t.normed, t.qkv, t.low_rank);
  ops.rotate_and_store(t.qkv, rotation(rows.rope, rows.batch.positions), t.rotated, rows.batch,
                       rows.pages);
  ops.attention_decode(t.rotated, shape, rows.batch, rows.pages, t.attended);
  o.forward_add(ops, t.attended, t.x, t.middle, t.low_rank);
}

void Attention::rotate(Operators& ops, const BlockTensors& t, const PackedRows& rows) const {
  ops.qk_norm_rope(t.qkv, rotation(rows.rope, rows.positions), t.rotated);
}

void Attention::backward_heads(Operators& ops, const BlockTensors& t, const PackedRows& rows,
                               const BlockGradients& d, const RoleTensors& gradient) const {
  o.backward_weight(ops, d.x, t.attended, rows.sequences.starts, t.low_rank, d.low_rank, gradient);
  o.backward_input(ops, d.x, d.attended, d.low_rank);
  ops.attention_backward(d.attended, t.rotated, t.qkv, t.attended, t.log_sum, shape, rows.sequences,
                         d.rotated, d.qkv);
  ops.qk_norm_rope_backward(d.rotated, t.qkv, rotation(rows.rope, rows.positions), d.qkv,
                            gradient[ParameterRole::kQueryNorm], gradient[ParameterRole::kKeyNorm]);
}

void Attention::backward_qkv(Operators& ops, const BlockTensors& t, const PackedRows& rows,
                             const BlockGradients& d, const RoleTensors& gradient) const {
  qkv.backward_weight(ops, d.qkv, t.normed, rows.sequences.starts, t.low_rank, d.low_rank,
                      gradient);
  qkv.backward_input(ops, d.qkv, d.normed, d.low_rank);
}

}  // namespace lie
