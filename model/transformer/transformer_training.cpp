// The passes of training: packed sequences forward through all layers, then backward. Each weight's
// gradient is a sum over tokens in order that starts from the value in the caller's memory.
// Therefore micro-batches of complete sequences give a gradient that is bit-identical to that of
// the whole batch, if the operators are exact.
#include <algorithm>
#include <cstddef>

#include "common/base/error.h"
#include "common/base/trace_range.h"
#include "model/operators/operators.h"
#include "model/transformer/transformer_state.h"

namespace lie {
namespace {

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
    fail("packed batch: scored rows must be within its {} tokens", batch.tokens.size());
  }
  for (const auto* ids : {&batch.tokens, &batch.targets}) {
    for (const std::int32_t id : *ids) {
      if (id >= 0 && id < config.vocabulary) continue;
      fail("token id {} is outside the model's vocabulary of {}", id, config.vocabulary);
    }
  }
}

/// Returns the default memory limit of a pass. A quarter of the free memory is left to libraries.
/// On the host a forward-only pass has none, since longer chunks of logits save no time there.
std::int64_t default_training_bytes(const Operators& operators, bool kept) {
  const std::optional<std::int64_t> free = operators.free_bytes();
  if (free) return *free / 4 * 3;
  return kept ? kTrainingBytes : 0;
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

/// Returns the index of each sequence's first scored row among all scored rows, then their number
/// [S + 1].
std::vector<std::int32_t> scored_starts(const PackedBatch& batch) {
  std::vector<std::int32_t> starts;
  for (const std::int32_t start : batch.starts) {
    const auto first = std::ranges::lower_bound(batch.rows, start);
    starts.push_back(static_cast<std::int32_t>(first - batch.rows.begin()));
  }
  return starts;
}

/// Returns the first rows of chunks of at most `most` scored rows, then the end. A chunk ends
/// between two sequences, or after a multiple of kTileOfRows rows of one, where sums over rows may
/// be split.
std::vector<std::int64_t> chunk_bounds(std::span<const std::int32_t> scored, std::int64_t most) {
  std::vector<std::int64_t> bounds = {0};
  while (bounds.back() < scored.back()) {
    const std::int64_t end = bounds.back() + most;
    if (end >= scored.back()) {
      bounds.push_back(scored.back());
    } else {
      const std::int64_t sequence = *std::prev(std::ranges::upper_bound(scored, end));
      bounds.push_back(end - (end - sequence) % Operators::kTileOfRows);
    }
  }
  return bounds;
}

}  // namespace

TrainingLists Transformer::State::upload(const PackedBatch& batch) {
  TrainingLists lists;
  PackedSequences& sequences = lists.sequences;
  const ListUpload uploads[] = {{batch.starts, &sequences.device_starts},
                                {training.positions, &lists.positions},
                                {batch.tokens, &lists.tokens},
                                {batch.rows, &lists.rows},
                                {batch.targets, &lists.targets}};
  upload_together(operators, training.joined, uploads);
  sequences.starts = batch.starts;
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    const std::int64_t length = batch.starts[s + 1] - batch.starts[s];
    sequences.longest = std::max(sequences.longest, length);
  }
  return lists;
}

/// Prepares a pass: checks the batch, decides which activations are kept, and divides the scored
/// rows into chunks.
void Transformer::State::begin_training(const PackedBatch& batch, float temperature, bool keep) {
  check_batch(batch, config);
  auto& t = training;
  t.kept = keep;
  t.tokens = std::ssize(batch.tokens);
  t.rows = std::ssize(batch.rows);
  t.temperature = temperature;
  t.positions = positions_of(batch);
  t.scored = scored_starts(batch);
  fit_memory();
  t.chunks = chunk_bounds(t.scored, t.layout.chunk_rows());
}

/// Lays out the pass within the memory limit. The tensors that all layers share never shrink, so
/// the limit is reduced by their size in the largest pass so far.
void Transformer::State::fit_memory() {
  auto& t = training;
  const DType dtype = operators.activation_dtype();
  if (t.max_bytes == 0) t.max_bytes = default_training_bytes(operators, t.kept);
  PassSize& largest = t.largest;
  largest = {std::max(largest.tokens, t.tokens), std::max(largest.rows, t.rows),
             largest.kept || t.kept};
  const std::int64_t available = t.max_bytes - shared_pass_bytes(config, largest.tokens, dtype);
  if (fit_cache_memory(available)) return;
  t.layout = PassLayout(config, dtype, {t.tokens, t.rows, t.kept}, available);
  const std::int64_t wanted = t.layout.bytes();
  const std::int64_t held = t.memory.view().elements() * dtype_bytes(DType::kFloat32);
  const std::int64_t most =
      std::max(available, PassLayout(config, dtype, largest, available).bytes());
  if (held < wanted || held > most) {
    const std::int64_t bytes = held == 0 ? wanted : std::min(most, wanted + wanted / 4);
    t.memory = Buffer();
    t.memory = operators.allocate(1, bytes / dtype_bytes(DType::kFloat32), DType::kFloat32);
  }
  t.place = t.memory.view().data;
}

/// Lays out the pass in the memory of the KV cache. Returns false, and does nothing, if it does not
/// fit or would recompute more layers than in the `available` bytes of own memory.
bool Transformer::State::fit_cache_memory(std::int64_t available) {
  if (!cache_memory) return false;
  auto& t = training;
  const Tensor& view = cache_memory->view();
  const std::int64_t bytes = view.elements() * dtype_bytes(view.dtype);
  const auto layout = layout_in_cache(config, operators.activation_dtype(),
                                      {t.tokens, t.rows, t.kept}, bytes, available);
  if (!layout) return false;
  t.memory = Buffer();
  t.layout = *layout;
  t.place = view.data;
  return true;
}

BlockTensors Transformer::State::training_tensors(std::int64_t layer) {
  auto& t = training;
  void* const memory = t.place;
  BlockTensors b;
  static_cast<KeptTensors&>(b) = t.layout.layer(memory, layer);
  b.x = t.layout.stream(memory, layer);
  b.normed = rows_of(t.normed, t.tokens, config.width);
  b.rotated = t.layout.rotated(memory, layer);
  b.activated = rows_of(t.activated, t.tokens, config.ffn_width);
  b.low_rank = low_rank_rows(t.low_rank, t.tokens);
  b.out = t.layout.stream(memory, layer + 1);
  return b;
}

BlockGradients Transformer::State::gradient_tensors() {
  auto& t = training;
  BlockGradients d;
  d.x = rows_of(t.dx, t.tokens, config.width);
  d.normed = rows_of(t.d_normed, t.tokens, config.width);
  d.qkv = rows_of(t.d_qkv, t.tokens, shape.qkv_cols());
  d.rotated = rows_of(t.d_rotated, t.tokens, shape.q_cols() + shape.kv_cols());
  d.attended = rows_of(t.d_attended, t.tokens, shape.q_cols());
  d.gate_up = rows_of(t.d_gate_up, t.tokens, 2 * config.ffn_width);
  d.activated = rows_of(t.d_activated, t.tokens, config.ffn_width);
  d.low_rank = low_rank_rows(t.d_low_rank, t.tokens);
  return d;
}

PackedRows Transformer::State::packed_rows(const TrainingLists& lists) const {
  return {lists.sequences, lists.positions, rope.view()};
}

RowLogProbs Transformer::forward(const PackedBatch& batch, float temperature,
                                 bool keep_for_backward) {
  const TraceRange range("forward");
  State& s = *state_;
  s.begin_training(batch, temperature, keep_for_backward);
  s.operators.begin_pass();
  const TrainingLists lists = s.upload(batch);
  s.rope.grow(s.config, s.operators, lists.sequences.longest);
  const PackedRows rows = s.packed_rows(lists);
  s.source->outer().embed(s.operators, lists.tokens, s.training_tensors(0).x);
  for (std::int64_t l = 0; l < s.config.layers; ++l) {
    const TraceRange layer("layer", l);
    s.source->acquire(l).forward(s.operators, s.training_tensors(l), rows);
    s.source->release(l);
  }
  return s.score_rows(s.training_tensors(s.config.layers - 1).out, lists);
}

void Transformer::State::backward_block(std::int64_t layer, const TrainingLists& lists,
                                        GradientSink& gradient) {
  const TraceRange range("layer", layer);
  const BlockTensors tensors = training_tensors(layer);
  const PackedRows rows = packed_rows(lists);
  const Block& block = source->acquire(layer);
  if (training.layout.recomputes_layer(layer)) {
    block.recompute(operators, tensors, rows);
  } else if (training.layout.recomputes_rotation(layer)) {
    block.attention.rotate(operators, tensors, rows);
  }
  block.backward(operators, tensors, rows, gradient_tensors(), gradient.layer(layer));
  source->release(layer);
  gradient.done(layer);
}

void Transformer::backward(const PackedBatch& batch, std::span<const float> d_log_probs,
                           std::span<const float> d_entropies, GradientSink& gradient) {
  const TraceRange range("backward");
  State& s = *state_;
  if (!s.source->is_trained()) fail("a fixed policy has no gradient");
  if (!s.training.kept || s.training.tokens != std::ssize(batch.tokens) ||
      s.training.rows != std::ssize(batch.rows)) {
    fail("backward() must follow forward() of the same batch with keep_for_backward");
  }
  if (d_log_probs.size() != batch.rows.size() || d_entropies.size() != batch.rows.size()) {
    fail("backward(): {} and {} row gradients for {} rows", d_log_probs.size(), d_entropies.size(),
         batch.rows.size());
  }
  s.operators.begin_pass();
  const TrainingLists lists = s.upload(batch);
  const RoleTensors& outer = gradient.layer(kNoLayer);
  s.backward_head(d_log_probs, d_entropies, lists, outer);
  for (std::int64_t l = s.config.layers - 1; l >= 0; --l) s.backward_block(l, lists, gradient);
  s.backward_embedding(batch, lists, outer[ParameterRole::kEmbedding]);
  gradient.done(kNoLayer);
  s.training.kept = false;
}

}  // namespace lie
