// The implementation of Transformer: packed weights, and the buffers of decoding and training.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/transformer/kv_cache.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"

namespace lie {

/// A tensor that grows to the largest number of rows requested so far and never shrinks.
class GrowingTensor {
 public:
  /// Returns the first `rows` rows. Their content is undefined after growth.
  Tensor rows(Operators& operators, std::int64_t rows, std::int64_t cols, DType dtype);

 private:
  Buffer buffer_;
};

/// The tensors of one block's forward pass: x -> attention -> middle -> feed-forward -> out.
struct BlockTensors : KeptTensors {
  Tensor x;          // [T, D] incoming residual stream
  Tensor normed;     // [T, D] after either norm
  Tensor rotated;    // [T, (H + K) E]
  Tensor activated;  // [T, F]
  Tensor out;        // [T, D] outgoing residual stream
};

/// The tensors of a decode call: of all T rows, and of the R rows with wants_logits.
struct DecodeTensors {
  BlockTensors block;
  Tensor wanted, wanted_normed;  // [R, D]
  Tensor logits;                 // [R, V]
};

struct LayerWeights {
  std::string prefix;  // "model.layers.0."
  std::unique_ptr<PackedWeight> qkv, o, gate_up, down;
  // Views of the weights, or of PolicyWeights::own_vectors.
  Tensor input_norm, post_norm, q_norm, k_norm;  // the last two are empty without QK-norm
  Tensor q_bias, k_bias, v_bias, o_bias;         // empty without attention bias
};

/// Calls matrix(weight, names) for each packed matrix of a layer, with the names of the parameters
/// that are its rows, then vector(tensor, name) for each vector.
template <typename Matrix, typename Vector>
void for_each_weight(LayerWeights& layer, const ModelConfig& config, const Matrix& matrix,
                     const Vector& vector) {
  using Names = std::vector<std::string>;
  const std::string attention = layer.prefix + "self_attn.", mlp = layer.prefix + "mlp.";
  matrix(layer.qkv, Names{attention + "q_proj.weight", attention + "k_proj.weight",
                          attention + "v_proj.weight"});
  matrix(layer.o, Names{attention + "o_proj.weight"});
  matrix(layer.gate_up, Names{mlp + "gate_proj.weight", mlp + "up_proj.weight"});
  matrix(layer.down, Names{mlp + "down_proj.weight"});
  vector(layer.input_norm, layer.prefix + "input_layernorm.weight");
  vector(layer.post_norm, layer.prefix + "post_attention_layernorm.weight");
  if (config.qk_norm) {
    vector(layer.q_norm, attention + "q_norm.weight");
    vector(layer.k_norm, attention + "k_norm.weight");
  }
  if (config.qkv_bias) {
    vector(layer.q_bias, attention + "q_proj.bias");
    vector(layer.k_bias, attention + "k_proj.bias");
    vector(layer.v_bias, attention + "v_proj.bias");
  }
  if (config.output_bias) vector(layer.o_bias, attention + "o_proj.bias");
}

/// The parameters of a model by name.
struct NamedParameters : std::map<std::string, Parameter> {
  explicit NamedParameters(const ModelConfig& config) {
    for (const Parameter& parameter : parameter_layout(config)) emplace(parameter.name, parameter);
  }
  /// Returns the shape of a matrix whose rows are these parameters.
  Parameter stacked(const std::vector<std::string>& names) const {
    Parameter all = at(names.front());
    for (std::size_t i = 1; i < names.size(); ++i) all.rows += at(names[i]).rows;
    return all;
  }
};

/// The weights that a policy computes with. Policies that share weights share one of these.
struct PolicyWeights {
  std::vector<LayerWeights> layers;
  std::unique_ptr<PackedWeight> head;  // in a tied model also the embedding
  // In an untied model one of these is set: a view of the weights, or the policy's packed copy.
  Tensor embedding;
  std::unique_ptr<PackedWeight> own_embedding;
  Tensor final_norm;
  std::map<std::string, Buffer> own_vectors;  // by name, for vectors that are not views of weights
  std::vector<Buffer> opened;  // memory of another process, if all of these are stored there
  bool is_shared = false;      // with other processes
};

/// The lists of a packed batch in the operators' memory, valid until the next begin_pass().
struct TrainingLists {
  PackedSequences sequences;
  Indices positions, tokens, rows, targets;
};

struct Transformer::State {
  /// Constructs a policy from weights in memory or from stored weights. The other is null.
  State(const Weights* weights, std::unique_ptr<StoredWeights> stored, Operators& operators);
  /// Constructs a policy that computes with `policy`. If it `shares` them, another policy or
  /// process packs these weights.
  State(const ModelConfig& model, Operators& own, std::shared_ptr<PolicyWeights> policy,
        const Weights* all, bool shares);

  const Weights* const weights;           // null for a fixed policy, or if another process packs
  const bool shares_weights;              // another policy packs the weights
  std::unique_ptr<StoredWeights> stored;  // of a fixed policy, until its weights are packed
  Tensor flat;                            // all weights, while they are packed
  const ModelConfig config;
  Operators& operators;
  AttentionShape shape;
  float eps;

  const NamedParameters parameters;
  std::int64_t elements;  // of the flat order of all parameters
  const std::shared_ptr<PolicyWeights> shared;
  std::vector<LayerWeights>& layers = shared->layers;
  std::unique_ptr<PackedWeight>& head = shared->head;
  std::unique_ptr<PackedWeight>& own_embedding = shared->own_embedding;
  Tensor& embedding = shared->embedding;
  Tensor& final_norm = shared->final_norm;

  Buffer rope;  // table of angles up to the largest position so far

  // ---- Decode
  struct Placement {
    std::vector<std::int32_t> tokens, positions, slots, sequences, table, wanted;
    std::vector<std::int32_t> starts;  // [sequences + 1] first row of each, then the end
    std::vector<std::int32_t> joined;  // the uploaded lists, end to end
    std::vector<const KvCache::Sequence*> table_sequences;
    DecodeBatch batch;
    Indices device_tokens, device_wanted;
    bool is_padded = false;  // to its bucket
    void clear();
  };
  Placement placement;
  struct {
    std::unique_ptr<CudaGraphs> cuda_graphs;  // null on the CPU
    bool is_enabled = true;                   // if false, steps are padded but not captured
    std::vector<const void*> memory = {};     // addresses that the captured graphs refer to
  } graphs;
  struct {
    GrowingTensor lists, tokens, x, normed, qkv, rotated, attended, gate_up, activated;
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
    PassLayout layout;                 // of `memory`
    Buffer memory;
    GrowingTensor normed, activated, final_x, final_normed, final_inverse_rms;
    GrowingTensor scores, log_sum;  // scores: all log-probs, then all entropies
    // Gradients of the tensors with these names.
    GrowingTensor dx, d_normed, d_qkv, d_rotated, d_attended, d_gate_up, d_activated;
    GrowingTensor d_final_x, d_final_normed, d_scores;
    std::vector<std::int32_t> joined;  // the lists of TrainingLists, end to end
  } training;

  /// Blocks until the operators have completed all work.
  void wait() const;
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in) const;
  LayerWeights make_layer(std::int64_t layer) const;
  bool views_weights() const { return weights != nullptr && weights->is_complete(); }
  /// Returns the named parameter as a view of `flat`.
  Tensor in_flat(const std::string& name) const;
  void pack_weights(Tensor all);
  void pack_layer(LayerWeights& layer);
  void pack_embedding_and_head();
  std::vector<const PackedWeight*> packed_weights() const;
  void embed(Operators& ops, Indices tokens, Tensor x) const;
  /// Packs the named matrix into rows [first_out, ...) of `weight`.
  void pack_matrix(PackedWeight& weight, std::int64_t first_out, const std::string& name) const;
  /// Returns the named vector: a view of the weights, or the policy's copy, which it updates.
  Tensor vector(const std::string& name);
  void add_qkv_bias(Operators& ops, const LayerWeights& layer, Tensor qkv) const;
  QkNormRope rotation(const LayerWeights& layer, Indices positions) const;
  /// Extends the table of angles to `end` positions. Throws Error beyond max_position_embeddings.
  void grow_rope(std::int64_t end);
  Tensor rows_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols);  // activation dtype
  /// Returns a tensor [1, rows] in fp32, with one number per row.
  Tensor row_statistics(GrowingTensor& tensor, std::int64_t rows);
  Tensor floats_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols);  // fp32

  /// Computes one block as far as backward() needs it. attention(t) computes t.rotated, then
  /// t.attended, from t.qkv.
  template <typename Attention>
  void forward_to_gate_up(Operators& ops, const LayerWeights& layer, const BlockTensors& t,
                          const Attention& attention) const {
    ops.rms_norm(t.x, layer.input_norm, eps, t.normed, t.inverse_rms_1);
    ops.linear(t.normed, *layer.qkv, t.qkv);
    if (config.qkv_bias) add_qkv_bias(ops, layer, t.qkv);
    attention(t);
    ops.linear_add(t.attended, *layer.o, t.x, t.middle);
    if (config.output_bias) ops.add_bias(t.middle, layer.o_bias);
    ops.rms_norm(t.middle, layer.post_norm, eps, t.normed, t.inverse_rms_2);
    ops.linear(t.normed, *layer.gate_up, t.gate_up);
  }
  template <typename Attention>
  void forward_block(Operators& ops, const LayerWeights& layer, const BlockTensors& t,
                     const Attention& attention) const {
    forward_to_gate_up(ops, layer, t, attention);
    ops.swiglu(t.gate_up, t.activated);
    ops.linear_add(t.activated, *layer.down, t.middle, t.out);
  }

  // transformer_decode.cpp
  void place(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn);
  void place_row(const DecodeRow& row, bool is_first, KvCache& cache);
  void pad_to_bucket(KvCache& cache);
  void upload_lists();
  void copy_to_fixed_address(std::span<Indices> lists);
  void look_up_drawn_tokens(Tensor drawn);
  DecodeTensors decode_tensors();
  void run_step(const DecodeTensors& all, KvPages pages);
  void run_on_workers(const DecodeTensors& all, KvPages pages);
  void decode_rows(Operators& ops, const DecodeTensors& all, KvPages pages, std::int64_t first,
                   std::int64_t end) const;
  // transformer_forward.cpp
  TrainingLists upload(const PackedBatch& batch);
  void begin_training(const PackedBatch& batch, float temperature, bool keep);
  void fit_memory();
  BlockTensors training_tensors(std::int64_t layer);
  void forward_training_block(std::int64_t layer, const TrainingLists& lists, bool recompute);
  void final_rows(Tensor x, Indices rows);
  RowLogProbs score_rows(Indices targets);
  /// Log-probs and entropies of all scored rows, or their gradients.
  struct Scores {
    Tensor both, log_probs, entropies;  // [1, 2R] with the log-probs first, [1, R], [1, R]
  };
  Scores scores(GrowingTensor& of_rows);
  /// Scored rows whose logits are computed in one call.
  struct Chunk {
    std::int64_t number = 0, first = 0, rows = 0;
  };
  Chunk chunk_of(std::int64_t row) const;
  /// Returns the logits' memory [rows, V]. Chunks without a place of their own share it.
  Tensor logits_of(const Chunk& chunk) const;
  Tensor form_logits(const Chunk& chunk);
  // transformer_backward.cpp
  struct Backward;
};

}  // namespace lie
