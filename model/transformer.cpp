#include "model/transformer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/error.h"
#include "model/rope.h"
#include "model/transformer_state.h"

namespace lie {

Tensor GrowingTensor::rows(Operators& operators, std::int64_t rows, std::int64_t cols,
                           DType dtype) {
  if (buffer_.empty() || buffer_.view().rows < rows || buffer_.view().cols != cols) {
    const std::int64_t room = buffer_.empty() ? rows : rows + rows / 4;
    buffer_ = Buffer();
    buffer_ = operators.allocate(std::max<std::int64_t>(room, 1), cols, dtype);
  }
  return buffer_.view().rows_at(0, rows);
}

Transformer::State::State(const Weights& all_weights, std::unique_ptr<Weights> taken_over)
    : own(std::move(taken_over)),
      weights(all_weights),
      config(all_weights.config()),
      operators(all_weights.operators()),
      shape{config.heads, config.kv_heads, config.head_width},
      eps(static_cast<float>(config.rms_norm_eps)) {
  for (const Parameter& parameter : weights.parameters()) parameters[parameter.name] = parameter;
  for (std::int64_t l = 0; l < config.layers; ++l) pack_layer(layers.emplace_back(make_layer(l)));
  head = operators.make_weight(config.vocabulary, config.width);
  pack_ends();
  training.x.resize(static_cast<std::size_t>(config.layers + 1));
}

LayerWeights Transformer::State::make_layer(std::int64_t layer) const {
  LayerWeights made;
  made.prefix = fmt::format("model.layers.{}.", layer);
  made.qkv = operators.make_weight(shape.qkv_cols(), config.width);
  made.o = operators.make_weight(config.width, shape.q_cols());
  made.gate_up = operators.make_weight(2 * config.ffn_width, config.width);
  made.down = operators.make_weight(config.width, config.ffn_width);
  return made;
}

void Transformer::State::pack_weights() {
  for (LayerWeights& layer : layers) pack_layer(layer);
  pack_ends();
}

void Transformer::State::embed(Operators& ops, Indices tokens, Tensor x) const {
  if (config.tied_embeddings) return ops.embed(*head, tokens, x);
  ops.embed(embedding, tokens, x);
}

void Transformer::State::pack_matrix(PackedWeight& weight, std::int64_t first_out,
                                     const std::string& name) const {
  constexpr std::int64_t kPartElements = 8 << 20;
  const Tensor matrix = weights.tensor(name);
  const std::int64_t part_rows = std::max<std::int64_t>(1, kPartElements / weight.in());
  for (std::int64_t first = 0; first < matrix.rows; first += part_rows) {
    const Tensor part = matrix.rows_at(first, std::min(part_rows, matrix.rows - first));
    operators.pack(weight, first_out + first, part);
    if (own) operators.release(part);
  }
}

void Transformer::State::pack_ends() {
  final_norm = weights.tensor("model.norm.weight");
  const std::string table = "model.embed_tokens.weight";
  if (!config.tied_embeddings) embedding = weights.tensor(table);
  pack_matrix(*head, 0, config.tied_embeddings ? table : "lm_head.weight");
}

void Transformer::State::pack_layer(LayerWeights& layer) {
  const auto tensor = [&](const char* name) { return weights.tensor(layer.prefix + name); };
  const auto pack = [&](PackedWeight& weight, std::int64_t first_out, const char* name) {
    pack_matrix(weight, first_out, layer.prefix + name);
  };
  pack(*layer.qkv, 0, "self_attn.q_proj.weight");
  pack(*layer.qkv, shape.q_cols(), "self_attn.k_proj.weight");
  pack(*layer.qkv, shape.q_cols() + shape.kv_cols(), "self_attn.v_proj.weight");
  pack(*layer.o, 0, "self_attn.o_proj.weight");
  pack(*layer.gate_up, 0, "mlp.gate_proj.weight");
  pack(*layer.gate_up, config.ffn_width, "mlp.up_proj.weight");
  pack(*layer.down, 0, "mlp.down_proj.weight");
  layer.input_norm = tensor("input_layernorm.weight");
  layer.post_norm = tensor("post_attention_layernorm.weight");
  if (config.qk_norm) {
    layer.q_norm = tensor("self_attn.q_norm.weight");
    layer.k_norm = tensor("self_attn.k_norm.weight");
  }
  if (config.qkv_bias) {
    layer.q_bias = tensor("self_attn.q_proj.bias");
    layer.k_bias = tensor("self_attn.k_proj.bias");
    layer.v_bias = tensor("self_attn.v_proj.bias");
  }
  if (config.output_bias) layer.o_bias = tensor("self_attn.o_proj.bias");
}

void Transformer::State::add_qkv_bias(Operators& ops, const LayerWeights& layer, Tensor qkv) const {
  const std::int64_t q = shape.q_cols(), kv = shape.kv_cols();
  ops.add_bias(qkv.cols_at(0, q), layer.q_bias);
  ops.add_bias(qkv.cols_at(q, kv), layer.k_bias);
  ops.add_bias(qkv.cols_at(q + kv, kv), layer.v_bias);
}

void Transformer::State::grow_rope(std::int64_t end) {
  if (end > config.max_positions) {
    fail("a sequence of {} tokens is longer than the model's max_position_embeddings {}", end,
         config.max_positions);
  }
  if (!rope.empty() && end <= rope.view().rows) return;
  const std::int64_t positions =
      std::min(config.max_positions, std::max<std::int64_t>(2 * end, 1024));
  rope = operators.allocate(positions, config.head_width, DType::kFloat32);
  operators.copy_from_host(rope_table(config, positions), rope.view());
}

QkNormRope Transformer::State::rotation(const LayerWeights& layer, Indices positions) const {
  return {shape, layer.q_norm, layer.k_norm, eps, rope.view(), positions};
}

Tensor Transformer::State::rows_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols) {
  return tensor.rows(operators, rows, cols, operators.activation_dtype());
}

Tensor Transformer::State::floats_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols) {
  return tensor.rows(operators, rows, cols, DType::kFloat32);
}

Tensor Transformer::State::row_statistics(GrowingTensor& tensor, std::int64_t rows) {
  const Tensor column = floats_of(tensor, rows, 1);
  return {column.data, 1, rows, rows, DType::kFloat32};
}

Transformer::Transformer(const Weights& weights) : state_(std::make_unique<State>(weights)) {}

Transformer::Transformer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Transformer Transformer::fixed(Weights weights) {
  auto own = std::make_unique<Weights>(std::move(weights));
  const Weights& taken_over = *own;
  return Transformer(std::make_unique<State>(taken_over, std::move(own)));
}

Transformer::Transformer(Transformer&&) noexcept = default;
Transformer::~Transformer() = default;

void Transformer::weights_changed() {
  if (state_->own) fail("a policy of fixed weights cannot take in others");
  state_->training.kept = false;
  state_->pack_weights();
}

}  // namespace lie
