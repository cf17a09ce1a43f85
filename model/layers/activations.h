// The tensors of one block's passes. The Transformer provides their memory.
#pragma once

#include "model/operators/tensor.h"

namespace lie {

/// The tensors of one layer that the backward pass needs, besides the incoming residual stream.
struct KeptTensors {
  Tensor inverse_rms_1;  // [1, T], empty if not kept
  Tensor qkv;            // [T, (H + 2K) E]
  Tensor attended;       // [T, H E]
  Tensor log_sum;        // [T, H], empty if not kept
  Tensor middle;         // [T, D] residual stream after attention
  Tensor inverse_rms_2;  // [1, T]
  Tensor gate_up;        // [T, 2F]
};

/// The tensors of one block's forward pass: x -> attention -> middle -> feed-forward -> out.
struct BlockTensors : KeptTensors {
  Tensor x;          // [T, D] incoming residual stream
  Tensor normed;     // [T, D] after either norm
  Tensor rotated;    // [T, (H + K) E]
  Tensor activated;  // [T, F]
  Tensor out;        // [T, D] outgoing residual stream
  Tensor low_rank;   // [T, low_rank_cols()] scratch of the adapter; empty: it is not applied
};

/// The tensors of one block's backward pass, which all layers share. Each is the gradient of the
/// tensor with its name.
struct BlockGradients {
  Tensor x;  // [T, D] of the residual stream: first of `out`, then of `middle`, then of `x`
  Tensor normed, qkv, rotated, attended, gate_up, activated, low_rank;
};

}  // namespace lie
