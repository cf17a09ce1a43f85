// The attention half of a block, forward and backward. In training its rows are packed sequences;
// in generation they attend to the keys and values in pages. Heads, width and angles are those of
// one layer, so layers may differ.
#pragma once

#include <cstdint>
#include <span>

#include "model/config/model_config.h"
#include "model/layers/activations.h"
#include "model/layers/linear.h"

namespace lie {

/// The rows of a training pass, as one layer sees them.
struct PackedRows {
  PackedSequences sequences;
  Indices positions;  // [T]
  Tensor rope;        // the layer's table of angles
};

/// The rows of a decode call, as one layer sees them.
struct PagedRows {
  DecodeBatch batch;
  KvPages pages;
  Tensor rope;  // the layer's table of angles
};

struct Attention {
  AttentionShape shape;
  float eps = 0;  // of the norms of heads
  bool has_qk_norm = false;
  Linear qkv;             // [(H + 2K) E, D]
  Linear o;               // [D, H E]
  Tensor q_norm, k_norm;  // [1, E], empty without QK-norm

  /// Computes t.middle, which is t.x plus the output, from t.normed.
  void forward(Operators& ops, const BlockTensors& t, const PackedRows& rows) const;
  void forward(Operators& ops, const BlockTensors& t, const PagedRows& rows) const;
  /// Computes t.rotated from t.qkv again, for a backward pass whose forward pass did not keep it.
  void rotate(Operators& ops, const BlockTensors& t, const PackedRows& rows) const;
  /// Computes d.qkv from d.x, the gradient of t.middle. Adds the gradients of `o` and of the norms
  /// of heads. Overwrites d.attended and d.rotated.
  void backward_heads(Operators& ops, const BlockTensors& t, const PackedRows& rows,
                      const BlockGradients& d, const RoleTensors& gradient) const;
  /// Computes d.normed from d.qkv, and adds the gradient of `qkv`. t.normed is the input.
  void backward_qkv(Operators& ops, const BlockTensors& t, const PackedRows& rows,
                    const BlockGradients& d, const RoleTensors& gradient) const;

 private:
  QkNormRope rotation(Tensor rope, Indices positions) const;
};

/// Returns the heads of a layer.
AttentionShape attention_shape(const ModelConfig& config);

Attention make_attention(const ModelConfig& config, std::span<const Parameter> layout,
                         std::int64_t layer);

}  // namespace lie
