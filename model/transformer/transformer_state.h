// The implementation of Transformer: the loops over its layers, its head, and their memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/layers/activations.h"
#include "model/layers/rope.h"
#include "model/layers/weight_source.h"
#include "model/transformer/decode_placement.h"
#include "model/transformer/growing_tensor.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"

namespace lie {

/// The tensors of a decode call: of all T rows, and of the R rows with wants_logits.
struct DecodeTensors {
  BlockTensors block;
  Tensor wanted, wanted_normed;  // [R, D]
  Tensor logits;                 // [R, V]
};

/// The lists of a packed batch in the operators' memory, valid until the next begin_pass().
struct TrainingLists {
  PackedSequences sequences;
  Indices positions, tokens, rows, targets;
};

struct Transformer::State {
  State(const ModelConfig& model, Operators& own, std::shared_ptr<WeightSource> weights);

  const ModelConfig config;
  Operators& operators;
  const AttentionShape shape;
  const float eps;
  const std::int64_t elements;  // of the flat order of all parameters
  const std::shared_ptr<WeightSource> source;
  std::shared_ptr<ResidentWeights> resident = {};  // `source`, or null if it is of another type
  bool shares_weights = false;                     // another policy packs the weights
  std::int64_t low_rank = 0;  // columns of the adapter's scratch; 0: the adapter is not applied
  RopeTable rope;
  std::shared_ptr<const Buffer> cache_memory = {};  // see share_cache_memory(); null: none

  // ---- Decode
  DecodePlacement placement;
  struct {
    std::unique_ptr<CudaGraphs> cuda_graphs;  // null on the CPU
    bool is_enabled = true;                   // if false, steps are padded but not captured
    std::vector<const void*> memory = {};     // addresses that the captured graphs refer to
  } graphs;
  struct {
    GrowingTensor x, normed, qkv, rotated, attended, gate_up, activated, low_rank;
    GrowingTensor wanted, wanted_normed, logits;
  } decoding;

  // ---- Training: the state that forward() prepares for backward()
  struct {
    bool kept = false;  // the last forward() kept activations
    std::int64_t tokens = 0, rows = 0;
    float temperature = 1;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> scored;  // [S + 1] first scored row of each sequence, then the end
    std::vector<std::int64_t> chunks;  // first row of each chunk, then the end
    std::int64_t max_bytes = 0;        // memory limit of a pass, or 0 if not yet known
    PassSize largest{.kept = false};   // the maximum over all passes so far
    PassLayout layout;                 // of the memory that begins at `place`
    void* place = nullptr;             // in `memory` or in the memory of the KV cache
    Buffer memory;
    GrowingTensor normed, activated, low_rank, final_x, final_normed, final_inverse_rms;
    GrowingTensor scores, log_sum;  // scores: all log-probs, then all entropies
    // Gradients of the tensors with these names.
    GrowingTensor dx, d_normed, d_qkv, d_rotated, d_attended, d_gate_up, d_activated, d_low_rank;
    GrowingTensor d_final_x, d_final_normed, d_scores;
    std::vector<std::int32_t> joined;  // the lists of TrainingLists, end to end
  } training;

  Tensor rows_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols) {
    return tensor.activations(operators, rows, cols);
  }
  /// Returns the adapter's scratch, or nothing if the policy applies no adapter.
  Tensor low_rank_rows(GrowingTensor& tensor, std::int64_t rows) {
    return low_rank == 0 ? Tensor() : rows_of(tensor, rows, low_rank);
  }
  Tensor row_statistics(GrowingTensor& tensor, std::int64_t rows) {
    return tensor.statistics(operators, rows);
  }

  // transformer_decode.cpp
  DecodeTensors decode_tensors();
  void run_step(const DecodeTensors& all, const KvCache& cache);
  void run_on_workers(const DecodeTensors& all, const KvCache& cache);
  void decode_rows(Operators& ops, const DecodeTensors& all, const KvCache& cache,
                   std::int64_t first, std::int64_t end) const;

  // transformer_training.cpp
  TrainingLists upload(const PackedBatch& batch);
  void begin_training(const PackedBatch& batch, float temperature, bool keep);
  void fit_memory();
  bool fit_cache_memory(std::int64_t available);
  BlockTensors training_tensors(std::int64_t layer);
  BlockGradients gradient_tensors();
  PackedRows packed_rows(const TrainingLists& lists) const;
  void backward_block(std::int64_t layer, const TrainingLists& lists, GradientSink& gradient);

  // transformer_head.cpp
  /// Log-probs and entropies of all scored rows, or their gradients.
  struct Scores {
    Tensor both, log_probs, entropies;  // [1, 2R] with the log-probs first, [1, R], [1, R]
  };
  /// Scored rows whose logits are computed in one call.
  struct Chunk {
    std::int64_t number = 0, first = 0, rows = 0;
  };
  Scores scores(GrowingTensor& of_rows);
  Chunk chunk_of(std::int64_t row) const;
  /// Returns the logits' memory [rows, V]. Chunks without a place of their own share it.
  Tensor logits_of(const Chunk& chunk) const;
  Tensor form_logits(const Chunk& chunk);
  Tensor form_d_logits(const Chunk& chunk, Indices targets);
  std::vector<std::int32_t> starts_in(const Chunk& chunk) const;
  RowLogProbs score_rows(Tensor x, const TrainingLists& lists);
  void backward_head(std::span<const float> d_log_probs, std::span<const float> d_entropies,
                     const TrainingLists& lists, const RoleTensors& gradient);
  void backward_embedding(const PackedBatch& batch, const TrainingLists& lists, Tensor table);
};

}  // namespace lie
