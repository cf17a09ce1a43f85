// The backward pass of training. Each weight's gradient is a sum over tokens in order that starts
// from the value in the caller's buffer. Therefore micro-batches of complete sequences give a
// gradient that is bit-identical to that of the whole batch.
#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "common/base/error.h"
#include "model/transformer/transformer_state.h"

namespace lie {

/// One backward pass into the caller's gradient.
struct Transformer::State::Backward {
  State& s;
  const PackedBatch& batch;
  Tensor gradient;
  TrainingLists lists;

  /// Returns the gradient of the named parameter, a view of the caller's gradient.
  Tensor gradient_of(const std::string& name) const {
    const Parameter& p = s.parameters.at(name);
    return {static_cast<float*>(gradient.data) + p.offset, p.rows, p.cols, p.cols, DType::kFloat32};
  }

  void adjacent_weights(Tensor dy, Tensor x, const std::string& prefix,
                        std::initializer_list<const char*> names);
  void head(std::span<const float> d_log_probs, std::span<const float> d_entropies);
  Tensor d_logits(const Chunk& chunk);
  std::vector<std::int32_t> starts_in(const Chunk& chunk) const;
  void block(std::int64_t layer);
  void feed_forward(const LayerWeights& layer, const BlockTensors& t, Tensor dx);
  void attention(const LayerWeights& layer, const BlockTensors& t, Tensor dx);
  void attention_biases(const LayerWeights& layer, Tensor dx, Tensor d_qkv);
  void embedding();
};

/// Adds the gradients of weights whose outputs are adjacent columns of `dy`. Weights that are also
/// adjacent in the gradient share one matmul. Without biases all are.
void Transformer::State::Backward::adjacent_weights(Tensor dy, Tensor x, const std::string& prefix,
                                                    std::initializer_list<const char*> names) {
  std::int64_t first = 0;
  Tensor stack;
  const auto add_stack = [&] {
    s.operators.linear_backward_weight(dy.cols_at(first, stack.rows), x, batch.starts, stack);
    first += stack.rows;
  };
  for (const char* name : names) {
    const Tensor next = gradient_of(prefix + name);
    if (!stack.empty() && stack.rows_at(stack.rows, 0).data == next.data) {
      stack.rows += next.rows;
      continue;
    }
    if (!stack.empty()) add_stack();
    stack = next;
  }
  add_stack();
}

/// Computes d(loss)/d(logits) of a chunk, which overwrites the logits.
Tensor Transformer::State::Backward::d_logits(const Chunk& chunk) {
  auto& t = s.training;
  const Tensor logits =
      t.layout.recomputes_logits(chunk.number) ? s.form_logits(chunk) : s.logits_of(chunk);
  const auto part = [&](Tensor of_rows) { return of_rows.cols_at(chunk.first, chunk.rows); };
  const Scores d = s.scores(t.d_scores);
  s.operators.log_probs_backward(logits, lists.targets.from(chunk.first, chunk.rows), t.temperature,
                                 part(s.scores(t.scores).entropies),
                                 part(s.row_statistics(t.log_sum, t.rows)), part(d.log_probs),
                                 part(d.entropies));
  return logits;
}

/// Returns the first row of each sequence within the chunk, then the chunk's end.
std::vector<std::int32_t> Transformer::State::Backward::starts_in(const Chunk& chunk) const {
  std::vector<std::int32_t> starts;
  for (const std::int32_t row : s.training.scored) {
    starts.push_back(
        static_cast<std::int32_t>(std::clamp<std::int64_t>(row - chunk.first, 0, chunk.rows)));
  }
  return starts;
}

/// Propagates from the loss to the residual stream after the last layer.
void Transformer::State::Backward::head(std::span<const float> d_log_probs,
                                        std::span<const float> d_entropies) {
  auto& t = s.training;
  Operators& ops = s.operators;
  const std::int64_t width = s.config.width;
  std::vector<float> d_scores(d_log_probs.begin(), d_log_probs.end());
  d_scores.insert(d_scores.end(), d_entropies.begin(), d_entropies.end());
  ops.copy_from_host(d_scores, s.scores(t.d_scores).both);
  const Tensor normed = s.rows_of(t.final_normed, t.rows, width);
  const Tensor d_normed = s.rows_of(t.d_final_normed, t.rows, width);
  for (std::int64_t r = 0; r < t.rows;) {
    const Chunk chunk = s.chunk_of(r);
    const Tensor d = d_logits(chunk);
    ops.linear_backward_input(d, *s.head, d_normed.rows_at(r, chunk.rows));
    if (!s.config.tied_embeddings) {
      ops.linear_backward_weight(d, normed.rows_at(r, chunk.rows), starts_in(chunk),
                                 gradient_of("lm_head.weight"));
    }
    r += chunk.rows;
  }
  const Tensor d_last = s.rows_of(t.d_final_x, t.rows, width);
  ops.zero(d_last);
  ops.rms_norm_backward(d_normed, s.rows_of(t.final_x, t.rows, width), s.final_norm,
                        s.row_statistics(t.final_inverse_rms, t.rows), d_last,
                        gradient_of("model.norm.weight"));
  ops.scatter_rows(d_last, lists.rows, s.rows_of(t.dx, t.tokens, width));
}

/// Turns dx, the gradient of the residual stream after the feed-forward, into that before it.
void Transformer::State::Backward::feed_forward(const LayerWeights& layer, const BlockTensors& t,
                                                Tensor dx) {
  Operators& ops = s.operators;
  const std::int64_t width = s.config.ffn_width;
  const Tensor d_activated = s.rows_of(s.training.d_activated, dx.rows, width);
  const Tensor d_gate_up = s.rows_of(s.training.d_gate_up, dx.rows, 2 * width);
  const Tensor d_normed = s.rows_of(s.training.d_normed, dx.rows, dx.cols);
  ops.linear_backward_input(dx, *layer.down, d_activated);
  ops.swiglu_backward(d_activated, t.gate_up, d_gate_up, t.activated);
  ops.linear_backward_weight(dx, t.activated, batch.starts,
                             gradient_of(layer.prefix + "mlp.down_proj.weight"));
  ops.rms_norm(t.middle, layer.post_norm, s.eps, t.normed, {});
  adjacent_weights(d_gate_up, t.normed, layer.prefix + "mlp.",
                   {"gate_proj.weight", "up_proj.weight"});
  ops.linear_backward_input(d_gate_up, *layer.gate_up, d_normed);
  ops.rms_norm_backward(d_normed, t.middle, layer.post_norm, t.inverse_rms_2, dx,
                        gradient_of(layer.prefix + "post_attention_layernorm.weight"));
}

void Transformer::State::Backward::attention(const LayerWeights& layer, const BlockTensors& t,
                                             Tensor dx) {
  Operators& ops = s.operators;
  const AttentionShape& shape = s.shape;
  const std::int64_t q = shape.q_cols(), kv = shape.kv_cols();
  const Tensor d_attended = s.rows_of(s.training.d_attended, dx.rows, q);
  const Tensor d_rotated = s.rows_of(s.training.d_rotated, dx.rows, q + kv);
  const Tensor d_qkv = s.rows_of(s.training.d_qkv, dx.rows, shape.qkv_cols());
  const Tensor d_normed = s.rows_of(s.training.d_normed, dx.rows, dx.cols);
  const auto attention_gradient = [&](const char* name) {
    return gradient_of(layer.prefix + "self_attn." + name);
  };
  ops.linear_backward_weight(dx, t.attended, batch.starts, attention_gradient("o_proj.weight"));
  ops.linear_backward_input(dx, *layer.o, d_attended);
  ops.attention_backward(d_attended, t.rotated, t.qkv, t.attended, t.log_sum, shape,
                         lists.sequences, d_rotated, d_qkv);
  const bool norm = s.config.qk_norm;
  ops.qk_norm_rope_backward(d_rotated, t.qkv, s.rotation(layer, lists.positions), d_qkv,
                            norm ? attention_gradient("q_norm.weight") : Tensor(),
                            norm ? attention_gradient("k_norm.weight") : Tensor());
  attention_biases(layer, dx, d_qkv);
  ops.rms_norm(t.x, layer.input_norm, s.eps, t.normed, {});
  adjacent_weights(d_qkv, t.normed, layer.prefix + "self_attn.",
                   {"q_proj.weight", "k_proj.weight", "v_proj.weight"});
  ops.linear_backward_input(d_qkv, *layer.qkv, d_normed);
  ops.rms_norm_backward(d_normed, t.x, layer.input_norm, t.inverse_rms_1, dx,
                        gradient_of(layer.prefix + "input_layernorm.weight"));
}

/// Adds the gradients of the biases. dx is the gradient of the residual stream after attention.
void Transformer::State::Backward::attention_biases(const LayerWeights& layer, Tensor dx,
                                                    Tensor d_qkv) {
  const std::int64_t q = s.shape.q_cols(), kv = s.shape.kv_cols();
  const auto add = [&](Tensor dy, const char* name) {
    s.operators.add_bias_backward(dy, gradient_of(layer.prefix + "self_attn." + name));
  };
  if (s.config.output_bias) add(dx, "o_proj.bias");
  if (!s.config.qkv_bias) return;
  add(d_qkv.cols_at(0, q), "q_proj.bias");
  add(d_qkv.cols_at(q, kv), "k_proj.bias");
  add(d_qkv.cols_at(q + kv, kv), "v_proj.bias");
}

void Transformer::State::Backward::block(std::int64_t layer) {
  if (s.training.layout.recomputes_layer(layer))
    s.forward_training_block(layer, lists, /*recompute=*/true);
  const LayerWeights& weight = s.layers[static_cast<std::size_t>(layer)];
  const BlockTensors tensors = s.training_tensors(layer);
  const Tensor dx = s.rows_of(s.training.dx, s.training.tokens, s.config.width);
  feed_forward(weight, tensors, dx);
  if (s.training.layout.recomputes_rotation(layer)) {
    s.operators.qk_norm_rope(tensors.qkv, s.rotation(weight, lists.positions), tensors.rotated);
  }
  attention(weight, tensors, dx);
}

/// Adds the embedding's gradient. If the head is the same matrix, both uses are added sequence by
/// sequence. Any other order would depend on the division into micro-batches.
void Transformer::State::Backward::embedding() {
  auto& t = s.training;
  const std::int64_t width = s.config.width;
  const Tensor table = gradient_of("model.embed_tokens.weight");
  const Tensor dx = s.rows_of(t.dx, t.tokens, width);
  if (!s.config.tied_embeddings) return s.operators.embed_backward(dx, lists.tokens, table);
  const Tensor normed = s.rows_of(t.final_normed, t.rows, width);
  std::int64_t r = 0, formed = -1;
  for (std::size_t sequence = 0; sequence + 1 < batch.starts.size(); ++sequence) {
    const std::int64_t first = batch.starts[sequence], end = batch.starts[sequence + 1];
    const std::int64_t rows_end = t.scored[sequence + 1];
    while (r < rows_end) {
      const Chunk chunk = s.chunk_of(r);
      // head() left the d_logits of every chunk that has a place of its own.
      if (t.layout.recomputes_logits(chunk.number) && formed != chunk.number) d_logits(chunk);
      formed = chunk.number;
      const std::int64_t count = std::min(rows_end, chunk.first + chunk.rows) - r;
      s.operators.linear_backward_weight(s.logits_of(chunk).rows_at(r - chunk.first, count),
                                         normed.rows_at(r, count), {}, table);
      r += count;
    }
    s.operators.embed_backward(dx.rows_at(first, end - first),
                               lists.tokens.from(first, end - first), table);
  }
}

void Transformer::backward(const PackedBatch& batch, std::span<const float> d_log_probs,
                           std::span<const float> d_entropies, Tensor gradient) {
  State& s = *state_;
  if (!s.weights) fail("a fixed policy has no gradient");
  if (!s.training.kept || s.training.tokens != std::ssize(batch.tokens) ||
      s.training.rows != std::ssize(batch.rows)) {
    fail("backward() must follow forward() of the same batch with keep_for_backward");
  }
  if (d_log_probs.size() != batch.rows.size() || d_entropies.size() != batch.rows.size() ||
      gradient.elements() != s.elements) {
    fail("backward(): {} and {} row gradients for {} rows, {} gradient elements for {} parameters",
         d_log_probs.size(), d_entropies.size(), batch.rows.size(), gradient.elements(),
         s.elements);
  }
  s.operators.begin_pass();
  State::Backward pass{s, batch, gradient, s.upload(batch)};
  pass.head(d_log_probs, d_entropies);
  for (std::int64_t l = s.config.layers - 1; l >= 0; --l) pass.block(l);
  pass.embedding();
  s.training.kept = false;
}

}  // namespace lie
