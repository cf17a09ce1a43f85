// Inside of Transformer: packed weights, and the buffers of decode and training.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/transformer/kv_cache_state.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"

namespace lie {

/// A tensor that grows to the most rows ever asked for and then stays.
class GrowingTensor {
 public:
  /// The first `rows` rows. Their content is undefined after growth.
  Tensor rows(Operators& operators, std::int64_t rows, std::int64_t cols, DType dtype);

 private:
  Buffer buffer_;
};

/// The tensors of one block's pass: x -> attention -> middle -> feed-forward -> out.
struct BlockTensors : KeptTensors {
  Tensor x;          // [T, D] residual stream coming in
  Tensor normed;     // [T, D] after either norm
  Tensor rotated;    // [T, (H + K) E]
  Tensor activated;  // [T, F]
  Tensor out;        // [T, D] residual stream going out
};

/// All rows of a decode call, and those of them whose logits are wanted.
struct DecodeTensors {
  BlockTensors block;
  Tensor wanted, wanted_normed;  // [R, D]
  Tensor logits;                 // [R, V]
};

struct LayerWeights {
  std::string prefix;  // "model.layers.0."
  std::unique_ptr<PackedWeight> qkv, o, gate_up, down;
  // Views of the weights.
  Tensor input_norm, post_norm, q_norm, k_norm;  // the last two empty without QK-norm
  Tensor q_bias, k_bias, v_bias, o_bias;         // empty without attention bias
};

/// What a policy computes with, together with those beside it.
struct PolicyWeights {
  std::vector<LayerWeights> layers;
  std::unique_ptr<PackedWeight> head;
  // Of an untied model: a view of the weights, or the policy's own. A tied one's is the head.
  Tensor embedding;
  std::unique_ptr<PackedWeight> own_embedding;
  Tensor final_norm;
  std::map<std::string, Buffer> own_vectors;  // by name, unless they are views of the weights
  std::vector<Buffer> opened;                 // of another process, where all of these lie
  bool is_shared = false;                     // with other processes
};

/// A packed batch's lists where the operators can read them, until the next begin_pass().
struct TrainingLists {
  PackedSequences sequences;
  Indices positions, tokens, rows, targets;
};

struct Transformer::State {
  /// Of either weights in memory or stored ones.
  State(const Weights* weights, std::unique_ptr<StoredWeights> stored, Operators& operators);
  /// Beside another policy.
  State(const State& other, Operators& operators);
  /// Of weights that another process packs.
  State(const ModelConfig& config, Operators& operators, std::shared_ptr<PolicyWeights> opened);

  const Weights* const weights;           // null: a fixed policy
  const bool is_beside = false;           // another policy, which packs the weights, or borrowed
  std::unique_ptr<StoredWeights> stored;  // of a fixed policy, until it is packed
  Tensor flat;                            // all weights, while they are packed
  const ModelConfig config;
  Operators& operators;
  AttentionShape shape;
  float eps;

  std::map<std::string, Parameter> parameters;  // by name
  std::int64_t elements;                        // of all of them, flat
  const std::shared_ptr<PolicyWeights> shared;
  std::vector<LayerWeights>& layers = shared->layers;
  std::unique_ptr<PackedWeight>& head = shared->head;
  std::unique_ptr<PackedWeight>& own_embedding = shared->own_embedding;
  Tensor& embedding = shared->embedding;
  Tensor& final_norm = shared->final_norm;

  // Rotation table as far as positions were met.
  Buffer rope;

  // ---- Decode
  struct Placement {
    std::vector<std::int32_t> tokens, positions, slots, sequences, table, wanted;
    std::vector<std::int32_t> starts;  // [sequences + 1] first row of each, then the end
    std::vector<std::int32_t> joined;  // what the device has of these
    std::vector<const KvCache::State::Sequence*> table_sequences;
    DecodeBatch batch;
    Indices device_tokens, device_wanted;
    bool is_padded = false;  // to its bucket
    void clear();
  };
  Placement placement;
  struct {
    std::unique_ptr<CudaGraphs> recorder;  // null on the CPU
    bool records = true;                   // else steps are called, padded all the same
    std::vector<const void*> memory = {};  // that they are recorded in
  } steps;
  struct {
    GrowingTensor lists, tokens, x, normed, qkv, rotated, attended, gate_up, activated;
    GrowingTensor wanted, wanted_normed, logits;
  } decoding;

  // ---- Training: what forward() leaves for backward()
  struct {
    bool kept = false;  // the last forward() was to be followed by backward()
    std::int64_t tokens = 0, rows = 0;
    float temperature = 1;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t>
        scored;  // [S + 1], the first scored row of each sequence, then the end
    std::vector<std::int64_t> chunks;  // their first rows, then the end
    std::int64_t most_bytes = 0;       // that a pass is to hold; 0: not known yet
    PassSize largest{.kept = false};   // so far
    PassLayout layout;                 // of `memory`
    Buffer memory;
    GrowingTensor normed, activated, final_x, final_normed, final_inverse_rms;
    GrowingTensor scores, log_sum;  // scores: all log-probs, then all entropies
    // Gradients of the tensors so named.
    GrowingTensor dx, d_normed, d_qkv, d_rotated, d_attended, d_gate_up, d_activated;
    GrowingTensor d_final_x, d_final_normed, d_scores;
    std::vector<std::int32_t> joined;  // the lists of TrainingLists
  } training;

  /// Returns when all that the operators were told to do is done.
  void wait() const;
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in) const;
  LayerWeights make_layer(std::int64_t layer) const;
  bool views_weights() const { return weights != nullptr && weights->is_whole(); }
  /// A parameter in `flat`.
  Tensor in_flat(const std::string& name) const;
  void pack_weights(Tensor all);
  void pack_layer(LayerWeights& layer);
  void pack_ends();
  std::vector<const PackedWeight*> packed_weights() const;
  void embed(Operators& ops, Indices tokens, Tensor x) const;
  /// The named matrix becomes rows [first_out, ...) of `weight`.
  void pack_matrix(PackedWeight& weight, std::int64_t first_out, const std::string& name) const;
  /// The named vector where it is computed with.
  Tensor vector(const std::string& name);
  void add_qkv_bias(Operators& ops, const LayerWeights& layer, Tensor qkv) const;
  QkNormRope rotation(const LayerWeights& layer, Indices positions) const;
  /// Makes the rotation table reach `end` positions. Throws Error past the model's limit.
  void grow_rope(std::int64_t end);
  Tensor rows_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols);  // activation dtype
  /// [1, rows] fp32, one number a row.
  Tensor row_statistics(GrowingTensor& tensor, std::int64_t rows);
  Tensor floats_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols);  // fp32

  /// One block, forward, as far as backward() needs it; `attend` computes t.attended, and t.rotated
  /// before it, from t.qkv.
  template <typename Attend>
  void forward_to_gate_up(Operators& ops, const LayerWeights& layer, const BlockTensors& t,
                          const Attend& poll_progress) const {
    ops.rms_norm(t.x, layer.input_norm, eps, t.normed, t.inverse_rms_1);
    ops.linear(t.normed, *layer.qkv, t.qkv);
    if (config.qkv_bias) add_qkv_bias(ops, layer, t.qkv);
    poll_progress(t);
    ops.linear_add(t.attended, *layer.o, t.x, t.middle);
    if (config.output_bias) ops.add_bias(t.middle, layer.o_bias);
    ops.rms_norm(t.middle, layer.post_norm, eps, t.normed, t.inverse_rms_2);
    ops.linear(t.normed, *layer.gate_up, t.gate_up);
  }
  /// The whole block.
  template <typename Attend>
  void forward_block(Operators& ops, const LayerWeights& layer, const BlockTensors& t,
                     const Attend& poll_progress) const {
    forward_to_gate_up(ops, layer, t, poll_progress);
    ops.swiglu(t.gate_up, t.activated);
    ops.linear_add(t.activated, *layer.down, t.middle, t.out);
  }

  // transformer_placement.cpp
  void place(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn);
  void place_row(const DecodeRow& row, bool is_first, KvCache::State& cache);
  void pad_to_bucket(KvCache::State& cache);
  void upload_lists();
  void keep_in_place(std::span<Indices> lists);
  void look_up(Tensor drawn);
  // transformer_decode.cpp
  DecodeTensors decode_tensors();
  void run_step(const DecodeTensors& whole, KvPages pages);
  void run_parts(const DecodeTensors& whole, KvPages pages);
  void decode_part(Operators& ops, const DecodeTensors& whole, KvPages pages, std::int64_t first,
                   std::int64_t end) const;
  // transformer_forward.cpp
  TrainingLists upload(const PackedBatch& batch);
  void begin_training(const PackedBatch& batch, float temperature, bool keep);
  void fit_memory();
  BlockTensors training_tensors(std::int64_t layer);
  void forward_training_block(std::int64_t layer, const TrainingLists& lists, bool again);
  void final_rows(Tensor x, Indices rows);
  RowLogProbs score_rows(Indices targets);
  /// A part [1, rows] for each of log-probs and entropies, from scores or their gradients.
  struct Scores {
    Tensor both, log_probs, entropies;
  };
  Scores scores(GrowingTensor& of_rows);
  /// Scored rows of which the logits are formed at once.
  struct Chunk {
    std::int64_t number = 0, first = 0, rows = 0;
  };
  Chunk chunk_of(std::int64_t row) const;
  /// [rows, V] where they are kept, or until the next chunk without a place of its own.
  Tensor logits_of(const Chunk& chunk) const;
  Tensor form_logits(const Chunk& chunk);
  // transformer_backward.cpp
  struct Backward;
};

}  // namespace lie
