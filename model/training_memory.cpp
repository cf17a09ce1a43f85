#include "model/training_memory.h"

#include <algorithm>

#include "model/operators.h"

namespace lie {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{4} << 30;

/// Elements that forward() keeps of a token and layer: x, middle, qkv, rotated, attended, gate_up.
std::int64_t kept_of_layer(const ModelConfig& config, const AttentionShape& shape) {
  return 2 * config.width + shape.qkv_cols() + shape.q_cols() + shape.kv_cols() + shape.q_cols() +
         2 * config.ffn_width;
}

AttentionShape shape_of(const ModelConfig& config) {
  return {config.heads, config.kv_heads, config.head_width};
}

/// Elements of a token that all layers share: what is normed and activated, the rows of the head,
/// and the gradients of all these.
std::int64_t shared_by_layers(const ModelConfig& config) {
  const AttentionShape shape = shape_of(config);
  const std::int64_t forward = 4 * config.width + config.ffn_width;
  const std::int64_t backward = 4 * config.width + 3 * config.ffn_width + shape.qkv_cols() +
                                shape.q_cols() + shape.kv_cols() + shape.q_cols();
  return forward + backward;
}

}  // namespace

bool recomputes_activations(const ModelConfig& config, std::int64_t tokens, DType activations) {
  const std::int64_t kept = tokens * config.layers * kept_of_layer(config, shape_of(config));
  return kept * dtype_bytes(activations) > kMostBytes;
}

std::int64_t training_pass_bytes(const ModelConfig& config, std::int64_t tokens,
                                 DType activations) {
  const std::int64_t kept = kept_of_layer(config, shape_of(config));
  const std::int64_t of_layers = recomputes_activations(config, tokens, activations)
                                     ? kept + config.layers * config.width
                                     : config.layers * kept;
  const std::int64_t rows = std::min(tokens, kLogitElements / config.vocabulary);
  return tokens * (of_layers + shared_by_layers(config)) * dtype_bytes(activations) +
         rows * config.vocabulary * dtype_bytes(DType::kFloat32);
}

}  // namespace lie
