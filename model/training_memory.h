// What a training pass over packed tokens holds, and when it recomputes to hold less.
#pragma once

#include <cstdint>

#include "model/model_config.h"
#include "model/tensor.h"

namespace lie {

/// Elements of one chunk of the head's logits.
inline constexpr std::int64_t kLogitElements = std::int64_t{64} << 20;

/// Whether backward() recomputes the activations layer by layer: all of them would be too many.
bool recomputes_activations(const ModelConfig& config, std::int64_t tokens, DType activations);

/// Bytes of forward and backward over so many packed tokens, all of them scored: activations,
/// their gradients and a chunk of logits. Weights and their gradient are not among them.
std::int64_t training_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations);

}  // namespace lie
