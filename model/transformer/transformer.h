// The policy: one transformer for generation and for training, through one set of operators. With
// the CPU operators the learner's log-prob of a sampled token is the actor's, bit for bit
// (invariant E5). With ATen's it differs by rounding: sums depend on how many rows a call has, and
// decoding attends by another routine than training. The metric first_minibatch_ratio_max_deviation
// says by how much.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/operators/operators.h"
#include "model/transformer/kv_cache.h"
#include "model/transformer/packed_batch.h"
#include "model/weights/weights.h"

namespace lie {

/// One token to append to a sequence of the KV cache.
struct DecodeRow {
  std::int32_t token = 0;     // or -1 - i: number i of those drawn before, which the host lacks yet
  std::int32_t sequence = 0;  // handle from KvCache::open
  bool wants_logits = false;  // false: prompt tokens before the last
};

/// A matrix or vector of a policy as another process is told of it: plain bytes.
struct SharedTensor {
  std::int64_t rows = 0, cols = 0;
  std::int64_t dtype = 0;  // DType
  MemoryHandle memory;
};

/// Matrices as the operators hold them.
struct PackedSize {
  std::int64_t elements = 0;
  std::int64_t fp32_elements = 0;  // those of matrices held as fp32
  std::int64_t bytes = 0;
};

class Transformer {
 public:
  /// Computes with the operators in whose memory the weights lie, and keeps a reference to both.
  /// The weights may change between calls if weights_changed() follows. Where they are a shard,
  /// take_weights() comes first, and again after any change: the transformer then has all it needs
  /// in memory of its own.
  explicit Transformer(const Weights& weights);
  /// A policy whose weights never change: those of a model directory, packed as they are read. The
  /// CPU operators hold each matrix that bf16 holds exactly as bf16, which changes no bits. Throws
  /// Error as load_weights does.
  static Transformer fixed(const std::filesystem::path& directory, Operators& operators);
  /// The same policy for another thread's operators, which reach the memory of this one's: with
  /// this one's weights, packed ones too, so that none are copied when they change. This one
  /// outlives it, and neither computes while weights_changed() of this one runs.
  Transformer beside(Operators& operators) const;
  /// All that it computes with, for open_shared() in other processes; empty: `refusal` says why.
  /// From then on a call that takes in weights returns when they lie there, because the others know
  /// nothing of this device's queue. They stay where they are for the policy's life.
  std::optional<std::vector<SharedTensor>> share(std::string& refusal);
  /// As beside(), of a policy in another process on the same device, which outlives this one. Empty
  /// where its memory cannot be opened. Throws Error where it is another model's.
  static std::optional<Transformer> open_shared(const ModelConfig& config, Operators& operators,
                                                std::span<const SharedTensor> handles,
                                                std::string& refusal);
  Transformer(Transformer&&) noexcept;
  ~Transformer();

  /// Repacks the weights for the operators. Call after any change of them. Beside another policy
  /// nothing: that one's call is for both.
  void weights_changed();
  /// The same from `flat` [1, N], all weights in the operators' memory, which are not needed any
  /// more when it returns unless they are those of whole Weights.
  void take_weights(Tensor flat);

  /// What the packed matrices take; without what gradients need beside them.
  PackedSize packed_size() const;

  /// Appends the rows to their sequences (rows of one sequence in order) and returns the logits of
  /// those that want them, in the operators' memory: [wanting rows, V] fp32, valid until the next
  /// call. With the CPU operators a row's bits do not depend on the other rows (invariant E3).
  /// `drawn` [1, *] int32: ids in the operators' memory, for rows that name one of them.
  Tensor decode(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn = {});

  /// Whether a device records decode steps that come again (model/operators/cuda_graphs.h), as it
  /// does without a call.
  void record_steps(bool on);
  CudaGraphs::Usage recorded_steps() const;

  /// Log-probs and entropies of the scored rows, and with `keep_for_backward` the activations that
  /// backward() needs. Logits are computed by chunks: [R, V] never exists whole.
  RowLogProbs forward(const PackedBatch& batch, float temperature, bool keep_for_backward);

  /// What a pass that keeps activations may hold of them, of their gradients and of logits; 0, as
  /// it is without a call: three quarters of what the operators know to be free at the first such
  /// pass, else kTrainingBytes. What does not fit is computed again by backward(), to the same
  /// bits.
  void limit_training_bytes(std::int64_t bytes);

  /// Adds to `gradient` [1, N] (fp32, flat as the weights, in the operators' memory)
  /// d(loss)/d(weights), given d(loss)/d(log_probs) and d(loss)/d(entropies) [R] of the last
  /// forward(). Gradients accumulate over tokens in order, so cutting a batch into micro-batches
  /// does not change their bits. A fixed policy has no gradient.
  void backward(const PackedBatch& batch, std::span<const float> d_log_probs,
                std::span<const float> d_entropies, Tensor gradient);

 private:
  struct State;
  explicit Transformer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lie
