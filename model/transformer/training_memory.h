// The memory of a training pass over packed tokens. Activations that do not fit are not kept:
// backward() recomputes them, with bit-identical results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/config/model_config.h"
#include "model/layers/activations.h"
#include "model/operators/operators.h"
#include "model/operators/tensor.h"

namespace lie {

/// The memory limit of a pass if no limit is set and the operators do not know how much is free.
inline constexpr std::int64_t kTrainingBytes = std::int64_t{4} << 30;

/// The size of a pass over a packed batch.
struct PassSize {
  std::int64_t tokens = 0;
  std::int64_t rows = 0;  // scored rows
  bool kept = true;       // activations are kept, since backward() follows
};

/// The layout of one block of memory. It holds the residual streams of a pass, the head's logits in
/// chunks of rows, and for each layer its KeptTensors and its rotated queries and keys. Layers
/// receive places of their own as long as memory lasts, then chunks, then rotations. All others of
/// a kind share one place.
class PassLayout {
 public:
  PassLayout() = default;
  /// Lays out a pass in at most `bytes`. If these are too few, the layout has the least possible
  /// size: all streams and one place of each other kind. A pass that keeps nothing has one stream,
  /// and longer chunks of logits instead of more places.
  PassLayout(const ModelConfig& config, DType activations, const PassSize& size,
             std::int64_t bytes);

  std::int64_t bytes() const;
  std::int64_t chunk_rows() const { return chunk_rows_; }  // the maximum of a chunk
  std::int64_t chunks() const { return chunks_.count; }
  /// Returns how many layers backward() recomputes. The last layer is not among them, since the
  /// shared place still holds it.
  std::int64_t recomputed_layers() const;
  bool recomputes_layer(std::int64_t layer) const;
  /// Returns whether backward() has to recompute the rotated queries and keys of a layer that it
  /// does not recompute.
  bool recomputes_rotation(std::int64_t layer) const { return rotations_.shares(layer); }
  /// Returns whether backward() has to recompute the logits of a chunk.
  bool recomputes_logits(std::int64_t chunk) const { return chunks_.shares(chunk); }

  // Each of these returns tensors in the block that begins at `memory`.
  Tensor stream(void* memory, std::int64_t before_layer) const;  // [T, D]
  KeptTensors layer(void* memory, std::int64_t layer) const;
  Tensor logits(void* memory, std::int64_t chunk) const;   // [chunk_rows(), V], fp32
  Tensor rotated(void* memory, std::int64_t layer) const;  // [T, (H + K) E]

 private:
  /// Places of equal size for `count` items. The last place is shared by all items that have none
  /// of their own.
  struct Places {
    std::int64_t count = 0, places = 0, bytes = 0;  // bytes of one place

    std::int64_t all() const { return places * bytes; }
    std::int64_t at(std::int64_t i) const { return std::min(i, places - 1) * bytes; }
    bool shares(std::int64_t i) const { return places < count && i >= places - 1; }
    /// Adds places as long as items lack one and `left` bytes suffice. Subtracts their bytes from
    /// `left`.
    void grow(std::int64_t& left);
  };

  AttentionShape shape_;
  DType activations_ = DType::kFloat32;
  std::int64_t tokens_ = 0, width_ = 0, ffn_width_ = 0, vocabulary_ = 0, chunk_rows_ = 0;
  Places streams_, layers_, chunks_, rotations_;
};

/// Returns the bytes of a pass over `tokens` tokens besides its PassLayout: the tensors that all
/// layers share, and the gradients of activations.
std::int64_t shared_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations);

/// Returns the layout of a pass whose total memory, shared_pass_bytes() included, is `bytes`.
PassLayout layout_within(const ModelConfig& config, DType activations, const PassSize& size,
                         std::int64_t bytes);

/// Returns the layout of a pass in the memory of a KV cache of `cache_bytes`. Returns nothing if it
/// does not fit, or would recompute more layers than in the `available` bytes of its own.
std::optional<PassLayout> layout_in_cache(const ModelConfig& config, DType activations,
                                          const PassSize& size, std::int64_t cache_bytes,
                                          std::int64_t available);

/// Returns the bytes of forward and backward over `tokens` packed tokens, all of them scored, under
/// the limit `bytes`. The result exceeds the limit if a pass needs more. Weights and their gradient
/// are not included.
std::int64_t training_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations,
                                 std::int64_t bytes = kTrainingBytes);

}  // namespace lie
