// The head of training: log-probs of the scored rows in chunks, and their backward pass down to the
// residual stream after the last layer. It also holds the embedding's gradient, because the head of
// a tied model is the embedding.
#include <algorithm>
#include <cstddef>

#include "common/base/trace_range.h"
#include "model/operators/operators.h"
#include "model/transformer/transformer_state.h"

namespace lie {

Transformer::State::Scores Transformer::State::scores(GrowingTensor& of_rows) {
  const Tensor both = row_statistics(of_rows, 2 * training.rows);
  return {both, both.cols_at(0, training.rows), both.cols_at(training.rows, training.rows)};
}

Transformer::State::Chunk Transformer::State::chunk_of(std::int64_t row) const {
  const auto end = std::ranges::upper_bound(training.chunks, row);
  const std::int64_t first = *std::prev(end);
  return {std::prev(end) - training.chunks.begin(), first, *end - first};
}

Tensor Transformer::State::logits_of(const Chunk& chunk) const {
  return training.layout.logits(training.place, chunk.number).rows_at(0, chunk.rows);
}

Tensor Transformer::State::form_logits(const Chunk& chunk) {
  const Tensor normed = rows_of(training.final_normed, training.rows, config.width);
  const Tensor logits = logits_of(chunk);
  operators.linear(normed.rows_at(chunk.first, chunk.rows), *source->outer().head, logits);
  return logits;
}

/// Normalizes the scored rows of `x` [T, D], then computes their log-probs and entropies.
RowLogProbs Transformer::State::score_rows(Tensor x, const TrainingLists& lists) {
  const TraceRange range("head");
  auto& t = training;
  const Tensor last = rows_of(t.final_x, t.rows, config.width);
  operators.gather_rows(x, lists.rows, last);
  operators.rms_norm(last, source->outer().final_norm, eps,
                     rows_of(t.final_normed, t.rows, config.width),
                     row_statistics(t.final_inverse_rms, t.rows));
  const Scores own = scores(t.scores);
  const Tensor log_sum = row_statistics(t.log_sum, t.rows);
  for (std::int64_t r = 0; r < t.rows;) {
    const Chunk chunk = chunk_of(r);
    const auto in_chunk = [&](Tensor all) { return all.cols_at(chunk.first, chunk.rows); };
    operators.log_probs(form_logits(chunk), lists.targets.from(chunk.first, chunk.rows),
                        t.temperature, in_chunk(own.log_probs), in_chunk(own.entropies),
                        in_chunk(log_sum));
    r += chunk.rows;
  }
  std::vector<float> host(static_cast<std::size_t>(2 * t.rows));
  operators.copy_to_host(own.both, host);
  const auto middle = host.begin() + t.rows;
  return {{host.begin(), middle}, {middle, host.end()}};
}

/// Computes d(loss)/d(logits) of a chunk, which overwrites the logits.
Tensor Transformer::State::form_d_logits(const Chunk& chunk, Indices targets) {
  auto& t = training;
  const Tensor logits =
      t.layout.recomputes_logits(chunk.number) ? form_logits(chunk) : logits_of(chunk);
  const auto in_chunk = [&](Tensor all) { return all.cols_at(chunk.first, chunk.rows); };
  const Scores d = scores(t.d_scores);
  operators.log_probs_backward(logits, targets.from(chunk.first, chunk.rows), t.temperature,
                               in_chunk(scores(t.scores).entropies),
                               in_chunk(row_statistics(t.log_sum, t.rows)), in_chunk(d.log_probs),
                               in_chunk(d.entropies));
  return logits;
}

/// Returns the first row of each sequence within the chunk, then the chunk's end.
std::vector<std::int32_t> Transformer::State::starts_in(const Chunk& chunk) const {
  std::vector<std::int32_t> starts;
  for (const std::int32_t row : training.scored) {
    starts.push_back(
        static_cast<std::int32_t>(std::clamp<std::int64_t>(row - chunk.first, 0, chunk.rows)));
  }
  return starts;
}

/// Propagates from the loss to the residual stream after the last layer. Adds the gradients of the
/// final norm and of an untied head, unless they are frozen.
void Transformer::State::backward_head(std::span<const float> d_log_probs,
                                       std::span<const float> d_entropies,
                                       const TrainingLists& lists, const RoleTensors& gradient) {
  const TraceRange range("head");
  auto& t = training;
  const OuterWeights& outer = source->outer();
  std::vector<float> d_scores(d_log_probs.begin(), d_log_probs.end());
  d_scores.insert(d_scores.end(), d_entropies.begin(), d_entropies.end());
  operators.copy_from_host(d_scores, scores(t.d_scores).both);
  const Tensor normed = rows_of(t.final_normed, t.rows, config.width);
  const Tensor d_normed = rows_of(t.d_final_normed, t.rows, config.width);
  for (std::int64_t r = 0; r < t.rows;) {
    const Chunk chunk = chunk_of(r);
    const Tensor d = form_d_logits(chunk, lists.targets);
    operators.linear_backward_input(d, *outer.head, d_normed.rows_at(r, chunk.rows));
    if (!gradient[ParameterRole::kHead].empty()) {
      operators.linear_backward_weight(d, normed.rows_at(r, chunk.rows), starts_in(chunk),
                                       gradient[ParameterRole::kHead]);
    }
    r += chunk.rows;
  }
  const Tensor d_last = rows_of(t.d_final_x, t.rows, config.width);
  operators.zero(d_last);
  operators.rms_norm_backward(d_normed, rows_of(t.final_x, t.rows, config.width), outer.final_norm,
                              row_statistics(t.final_inverse_rms, t.rows), d_last,
                              gradient[ParameterRole::kFinalNorm]);
  operators.scatter_rows(d_last, lists.rows, rows_of(t.dx, t.tokens, config.width));
}

/// Adds the embedding's gradient to `table`, unless it is empty. If the head is the same matrix,
/// both uses are added sequence by sequence. Any other order would depend on the division into
/// micro-batches.
void Transformer::State::backward_embedding(const PackedBatch& batch, const TrainingLists& lists,
                                            Tensor table) {
  if (table.empty()) return;
  auto& t = training;
  const Tensor dx = rows_of(t.dx, t.tokens, config.width);
  if (!config.tied_embeddings) return operators.embed_backward(dx, lists.tokens, table);
  const Tensor normed = rows_of(t.final_normed, t.rows, config.width);
  std::int64_t r = 0, formed = -1;
  for (std::size_t sequence = 0; sequence + 1 < batch.starts.size(); ++sequence) {
    const std::int64_t first = batch.starts[sequence], end = batch.starts[sequence + 1];
    const std::int64_t rows_end = t.scored[sequence + 1];
    while (r < rows_end) {
      const Chunk chunk = chunk_of(r);
      // backward_head() left the d_logits of every chunk that has a place of its own.
      if (t.layout.recomputes_logits(chunk.number) && formed != chunk.number) {
        form_d_logits(chunk, lists.targets);
      }
      formed = chunk.number;
      const std::int64_t count = std::min(rows_end, chunk.first + chunk.rows) - r;
      operators.linear_backward_weight(logits_of(chunk).rows_at(r - chunk.first, count),
                                       normed.rows_at(r, count), {}, table);
      r += count;
    }
    operators.embed_backward(dx.rows_at(first, end - first), lists.tokens.from(first, end - first),
                             table);
  }
}

}  // namespace lie
