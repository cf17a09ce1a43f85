// The policy: one transformer for generation and for training, with the same operators. On the CPU
// operators, the learner's log-prob of a sampled token is bit-identical to the actor's (invariant
// E5). On the ATen operators the two differ by rounding, for two reasons. Sums depend on the number
// of rows of a call, and decoding uses another attention routine than training. The metric
// first_minibatch_ratio_max_deviation reports the difference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/layers/gradient_sink.h"
#include "model/layers/resident_weights.h"
#include "model/operators/operators.h"
#include "model/transformer/decode_placement.h"
#include "model/transformer/kv_cache.h"
#include "model/weights/weights.h"

namespace lie {

/// The input of the learner's passes: S sequences with T tokens in total, end to end, no padding.
/// Row t of the forward pass predicts tokens[t + 1]. `rows` are the scored rows: those that predict
/// a response token.
struct PackedBatch {
  std::vector<std::int32_t> tokens;   // [T]
  std::vector<std::int32_t> starts;   // [S + 1], starts[0] = 0, starts[S] = T
  std::vector<std::int32_t> rows;     // [R], ascending
  std::vector<std::int32_t> targets;  // [R], token ids
};

/// The results of the scored rows. The distribution of a row is softmax(logits / temperature).
struct RowLogProbs {
  std::vector<float> log_probs;  // [R], of the target
  std::vector<float> entropies;  // [R], nats
};

class Transformer {
 public:
  /// Computes with the operators that own the memory of the weights. Keeps references to both,
  /// which must outlive it. After each change of the weights, call weights_changed(). If `weights`
  /// is a shard, call set_weights() before the first use and after each change instead. The
  /// transformer then stores all weights in its own memory.
  explicit Transformer(const Weights& weights);
  /// Computes with the weights of `source`, in the memory of `operators`, which must outlive it.
  Transformer(const ModelConfig& config, Operators& operators,
              std::shared_ptr<WeightSource> source);
  /// Returns a policy whose weights never change. They are packed while they are read from a model
  /// directory, and with the adapter that load_policy_config() finds. The CPU operators store a
  /// matrix as bf16 if that represents it exactly, so results are bit-identical. Throws Error as
  /// load_weights does.
  static Transformer fixed(const std::filesystem::path& directory, Operators& operators,
                           const std::filesystem::path& adapter = {});
  /// Returns a policy whose weights set_weights_from() sets, and only stored as the operators pack
  /// them. The base of an adapter is packed from its directory now; throws Error as load_weights
  /// does.
  static Transformer received(const ModelConfig& config, Operators& operators);
  /// Returns the same policy for the operators of another thread, which must be able to read this
  /// one's memory. Both share the weights and the packed weights, so a change copies nothing. This
  /// one must outlive the result. Neither may compute during weights_changed() of this one.
  Transformer with_shared_weights(Operators& operators) const;
  /// Returns the same policy for an actor in this process. Its KV cache must use cache_memory().
  Transformer for_generation(Operators& operators) const;
  /// Returns the policy without its adapter, for the same operators and with the same memory for
  /// the base. This one must outlive the result.
  Transformer without_adapter() const;
  Transformer(Transformer&&) noexcept;
  ~Transformer();

  /// Repacks the weights for the operators. Call it after each change of the weights. Does nothing
  /// for a policy that shares the weights of another, since the call on that policy serves both.
  void weights_changed();
  /// Repacks from `flat` [1, N], which holds all weights in the operators' memory. If the policy
  /// was constructed from a shard, `flat` may be freed or overwritten after the call. Otherwise the
  /// policy keeps views of `flat`, which must stay valid.
  void set_weights(Tensor flat);
  /// As above for a policy that was constructed from a shard, layer by layer: see
  /// ResidentWeights::pack().
  void set_weights(const LoadLayer& load);
  /// Packs the complete rows in `values` [1, count], which are the elements from `first` on of the
  /// flat order and begin with a complete row. Returns the number of elements before the first
  /// incomplete row. Throws Error unless received() made the policy.
  std::int64_t set_weights_from(std::int64_t first, Tensor values);

  /// Returns the size of the packed matrices. Memory that gradients need for them is not included.
  PackedSize packed_size() const;

  /// Appends the rows to their sequences. Rows of one sequence must be consecutive and in
  /// order. Returns the logits of the rows with wants_logits, [such rows, V] fp32 in the operators'
  /// memory, valid until the next call. `drawn` [1, *] int32 holds ids in the operators' memory to
  /// which rows may refer. On the CPU operators the logits of a row do not depend on the other rows
  /// (invariant E3).
  Tensor decode(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn = {});

  /// Sets whether decode steps are captured as CUDA graphs (model/operators/cuda_graphs.h). The
  /// default is true. It has no effect on operators without CUDA graphs.
  void use_cuda_graphs(bool on);
  CudaGraphs::Usage cuda_graph_usage() const;

  /// Returns log-probs and entropies of the scored rows. With `keep_for_backward` it keeps the
  /// activations that backward() needs. Logits are computed in chunks, never as a full [R, V].
  RowLogProbs forward(const PackedBatch& batch, float temperature, bool keep_for_backward);

  /// Limits the memory of a pass: activations, their gradients and logits. backward() recomputes
  /// what does not fit, with bit-identical results. The default, 0, is three quarters of the memory
  /// that is free at the first pass. If the operators do not report free memory, it is
  /// kTrainingBytes, or the least possible until a pass keeps activations.
  void limit_training_bytes(std::int64_t bytes);

  /// Allocates memory for the KV cache of for_generation(), which passes of this policy use in turn
  /// with it: they may only run while the cache holds no sequence. A pass whose activations do not
  /// fit, or that would recompute more layers than in memory of its own, does not use it.
  void share_cache_memory(std::int64_t bytes);
  /// Returns this memory [1, *] fp32; empty if there is none.
  Tensor cache_memory() const;

  /// Adds d(loss)/d(weights) to the tensors of `gradient`. The arguments are d(loss)/d(log_probs)
  /// and d(loss)/d(entropies) [R] of the last forward(). Gradients are summed over tokens in order,
  /// so with operators that are exact in both passes (CPU) the division into micro-batches does not
  /// change a bit. Throws Error if the weights have no gradient.
  void backward(const PackedBatch& batch, std::span<const float> d_log_probs,
                std::span<const float> d_entropies, GradientSink& gradient);

 private:
  struct State;
  Transformer(std::shared_ptr<ResidentWeights> weights, Operators& operators);
  ResidentWeights& resident() const;
  std::unique_ptr<State> state_;
};

}  // namespace lie
