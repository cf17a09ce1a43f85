// Training forward: packed sequences through all layers, then log-probs of the scored rows by
// chunks.
#include <algorithm>
#include <cstddef>

#include "common/error.h"
#include "model/training_memory.h"
#include "model/transformer_state.h"
#include "model/upload_together.h"

namespace lie {
namespace {

/// Of one chunk of the head whose activations are not kept.
constexpr std::int64_t kLogitElementsNotKept = std::int64_t{8} << 20;

void check_batch(const PackedBatch& batch, const ModelConfig& config) {
  if (batch.starts.size() < 2 || batch.starts.front() != 0 ||
      batch.starts.back() != std::ssize(batch.tokens) || !std::ranges::is_sorted(batch.starts)) {
    fail("packed batch: starts must rise from 0 to the {} tokens", batch.tokens.size());
  }
  if (batch.rows.size() != batch.targets.size() || !std::ranges::is_sorted(batch.rows)) {
    fail("packed batch: {} rows (ascending) need as many targets, not {}", batch.rows.size(),
         batch.targets.size());
  }
  if (!batch.rows.empty() && (batch.rows.front() < 0 || batch.rows.back() >= batch.starts.back())) {
    fail("packed batch: scored rows must lie within its {} tokens", batch.tokens.size());
  }
  for (const auto* ids : {&batch.tokens, &batch.targets}) {
    for (const std::int32_t id : *ids) {
      if (id >= 0 && id < config.vocabulary) continue;
      fail("token id {} is outside the model's vocabulary of {}", id, config.vocabulary);
    }
  }
}

std::vector<std::int32_t> positions_of(const PackedBatch& batch) {
  std::vector<std::int32_t> positions;
  positions.reserve(batch.tokens.size());
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    for (std::int32_t t = batch.starts[s]; t < batch.starts[s + 1]; ++t) {
      positions.push_back(t - batch.starts[s]);
    }
  }
  return positions;
}

}  // namespace

TrainingLists Transformer::State::upload(const PackedBatch& batch) {
  const auto lists = upload_together<5>(
      operators, training.joined,
      {batch.starts, training.positions, batch.tokens, batch.rows, batch.targets});
  PackedSequences sequences{batch.starts, lists[0], 0};
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    const std::int64_t length = batch.starts[s + 1] - batch.starts[s];
    sequences.longest = std::max(sequences.longest, length);
  }
  return {sequences, lists[1], lists[2], lists[3], lists[4]};
}

Transformer::State::Scores Transformer::State::scores(GrowingTensor& of_rows) {
  const Tensor both = row_statistics(of_rows, 2 * training.rows);
  return {both, both.cols_at(0, training.rows), both.cols_at(training.rows, training.rows)};
}

/// Decides what backward() will find: the number of rows, and the activations kept.
void Transformer::State::begin_training(const PackedBatch& batch, float temperature, bool keep) {
  check_batch(batch, config);
  auto& t = training;
  t.kept = keep;
  t.tokens = std::ssize(batch.tokens);
  t.rows = std::ssize(batch.rows);
  t.temperature = temperature;
  t.positions = positions_of(batch);
  t.recompute = !keep || recomputes_activations(config, t.tokens, operators.activation_dtype());
  const auto blocks = static_cast<std::size_t>(t.recompute ? 1 : config.layers);
  if (t.blocks.size() < blocks) t.blocks.resize(blocks);
}

BlockTensors Transformer::State::training_tensors(std::int64_t layer) {
  auto& t = training;
  BlockBuffers& block = t.blocks[static_cast<std::size_t>(t.recompute ? 0 : layer)];
  // Without a backward to come, one residual stream serves all layers.
  const auto in = static_cast<std::size_t>(t.kept ? layer : 0);
  const auto out = static_cast<std::size_t>(t.kept ? layer + 1 : 0);
  BlockTensors b;
  b.x = rows_of(t.x[in], t.tokens, config.width);
  b.normed = rows_of(t.normed, t.tokens, config.width);
  b.inverse_rms_1 = row_statistics(block.inverse_rms_1, t.tokens);
  b.qkv = rows_of(block.qkv, t.tokens, shape.qkv_cols());
  b.rotated = rows_of(block.rotated, t.tokens, shape.q_cols() + shape.kv_cols());
  b.attended = rows_of(block.attended, t.tokens, shape.q_cols());
  b.log_sum = floats_of(block.log_sum, t.tokens, shape.heads);
  b.middle = rows_of(block.middle, t.tokens, config.width);
  b.inverse_rms_2 = row_statistics(block.inverse_rms_2, t.tokens);
  b.gate_up = rows_of(block.gate_up, t.tokens, 2 * config.ffn_width);
  b.activated = rows_of(t.activated, t.tokens, config.ffn_width);
  b.out = rows_of(t.x[out], t.tokens, config.width);
  return b;
}

void Transformer::State::forward_training_block(std::int64_t layer,
                                                const PackedSequences& sequences,
                                                Indices positions) {
  const LayerWeights& weight = layers[static_cast<std::size_t>(layer)];
  forward_block(operators, weight, training_tensors(layer), [&](const BlockTensors& t) {
    operators.qk_norm_rope(t.qkv, rotation(weight, positions), t.rotated);
    operators.attention(t.rotated, t.qkv, shape, sequences, t.attended, t.log_sum);
  });
}

std::int64_t Transformer::State::head_chunk_rows() const {
  const std::int64_t of_chunk = training.kept ? kLogitElements : kLogitElementsNotKept;
  return std::clamp<std::int64_t>(of_chunk / config.vocabulary, 16,
                                  std::max<std::int64_t>(training.rows, 16));
}

Tensor Transformer::State::chunk_logits(std::int64_t first, std::int64_t rows) {
  const Tensor normed = rows_of(training.final_normed, training.rows, config.width);
  const Tensor logits =
      floats_of(training.logits, head_chunk_rows(), config.vocabulary).rows_at(0, rows);
  operators.linear(normed.rows_at(first, rows), *head, logits);
  return logits;
}

/// Norm of the scored rows of the last layer's output, for the head.
void Transformer::State::final_rows(Tensor x, Indices rows) {
  const Tensor last = rows_of(training.final_x, training.rows, config.width);
  operators.gather_rows(x, rows, last);
  operators.rms_norm(last, final_norm, eps,
                     rows_of(training.final_normed, training.rows, config.width),
                     row_statistics(training.final_inverse_rms, training.rows));
}

RowLogProbs Transformer::State::score_rows(Indices targets) {
  auto& t = training;
  const Scores own = scores(t.scores);
  const Tensor log_sum = row_statistics(t.log_sum, t.rows);
  const std::int64_t chunk = head_chunk_rows();
  for (std::int64_t r = 0; r < t.rows; r += chunk) {
    const std::int64_t count = std::min(chunk, t.rows - r);
    operators.log_probs(chunk_logits(r, count), targets.from(r, count), t.temperature,
                        own.log_probs.cols_at(r, count), own.entropies.cols_at(r, count),
                        log_sum.cols_at(r, count));
  }
  t.logits_kept = t.rows <= chunk;
  std::vector<float> host(static_cast<std::size_t>(2 * t.rows));
  operators.copy_to_host(own.both, host);
  const auto middle = host.begin() + t.rows;
  return {{host.begin(), middle}, {middle, host.end()}};
}

RowLogProbs Transformer::forward(const PackedBatch& batch, float temperature,
                                 bool keep_for_backward) {
  State& s = *state_;
  s.begin_training(batch, temperature, keep_for_backward);
  s.operators.begin_pass();
  const TrainingLists lists = s.upload(batch);
  s.grow_rope(lists.sequences.longest);
  const Tensor x = s.rows_of(s.training.x[0], s.training.tokens, s.config.width);
  s.embed(s.operators, lists.tokens, x);
  for (std::int64_t l = 0; l < s.config.layers; ++l)
    s.forward_training_block(l, lists.sequences, lists.positions);
  s.final_rows(s.training_tensors(s.config.layers - 1).out, lists.rows);
  return s.score_rows(lists.targets);
}

}  // namespace lie
