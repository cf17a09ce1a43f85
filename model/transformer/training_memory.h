// What a training pass over packed tokens holds, and how much of it backward() finds: what has no
// place is computed again on the way back, to the same bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/config/model_config.h"
#include "model/operators/operators.h"
#include "model/operators/tensor.h"

namespace lie {

/// For a pass where nothing else is asked for and the operators do not know what memory is free.
inline constexpr std::int64_t kTrainingBytes = std::int64_t{4} << 30;

/// Of a packed batch.
struct PassSize {
  std::int64_t tokens = 0;
  std::int64_t rows = 0;  // scored
  bool kept = true;       // backward() follows
};

/// What backward() needs of one layer, besides the residual stream that came in.
struct KeptTensors {
  Tensor inverse_rms_1;  // [1, T], empty: not kept
  Tensor qkv;            // [T, (H + 2K) E]
  Tensor attended;       // [T, H E]
  Tensor log_sum;        // [T, H], empty: not kept
  Tensor middle;         // [T, D] residual stream after attention
  Tensor inverse_rms_2;  // [1, T]
  Tensor gate_up;        // [T, 2F]
};

/// One memory cut into the residual streams of a pass, KeptTensors by layer, the head's logits by
/// chunks of rows, and rotated queries and keys by layer. As many layers, then chunks, then
/// rotations, as the memory holds have a place of their own; one more is shared by all others.
class PassLayout {
 public:
  PassLayout() = default;
  /// In `bytes`, or the least that does: all streams and a place each.
  PassLayout(const ModelConfig& config, DType activations, const PassSize& size,
             std::int64_t bytes);

  std::int64_t bytes() const;
  /// At most.
  std::int64_t chunk_rows() const { return chunk_rows_; }
  std::int64_t chunks() const { return chunks_.count; }
  /// How many layers backward() computes a second time: the last is still in the shared place.
  std::int64_t recomputed_layers() const;
  bool recomputes(std::int64_t layer) const;
  /// Whether backward() finds no rotated queries and keys of a layer.
  bool rotates_again(std::int64_t layer) const { return rotations_.shares(layer); }
  /// Whether backward() has to form the logits of a chunk again.
  bool forms_again(std::int64_t chunk) const { return chunks_.shares(chunk); }

  // Tensors in the memory that begins at `memory`.
  Tensor stream(void* memory, std::int64_t before_layer) const;  // [T, D]
  KeptTensors layer(void* memory, std::int64_t layer) const;
  Tensor logits(void* memory, std::int64_t chunk) const;   // [chunk_rows(), V], fp32
  Tensor rotated(void* memory, std::int64_t layer) const;  // [T, (H + K) E]

 private:
  /// Places of equal size for `count` things, the last place for all that have none of their own.
  struct Places {
    std::int64_t count = 0, places = 0, bytes = 0;  // bytes of one

    std::int64_t all() const { return places * bytes; }
    std::int64_t at(std::int64_t i) const { return std::min(i, places - 1) * bytes; }
    bool shares(std::int64_t i) const { return places < count && i >= places - 1; }
    /// Takes what more it can use of `left`.
    void grow(std::int64_t& left);
  };

  AttentionShape shape_;
  DType activations_ = DType::kFloat32;
  std::int64_t tokens_ = 0, width_ = 0, ffn_width_ = 0, vocabulary_ = 0, chunk_rows_ = 0;
  Places streams_, layers_, chunks_, rotations_;
};

/// Bytes that a pass over so many tokens holds besides its PassLayout: what all layers share, and
/// gradients of activations.
std::int64_t shared_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations);

/// The layout of a pass that is to hold `bytes` in all.
PassLayout layout_within(const ModelConfig& config, DType activations, const PassSize& size,
                         std::int64_t bytes);

/// Bytes of forward and backward over so many packed tokens, all of them scored, that are to be at
/// most `bytes`: the least that does, if that is more. Weights and their gradient are not among
/// them.
std::int64_t training_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations,
                                 std::int64_t bytes = kTrainingBytes);

}  // namespace lie
