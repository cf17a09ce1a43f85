// The model of the speed figures: Qwen3, 0.85 M parameters, or the shape of a Hugging Face
// directory with random weights.
#pragma once

#include <cstdint>
#include <string>

#include "model/weights/weights.h"

namespace lie::bench {

inline ModelConfig bench_config() {
  ModelConfig config;
  config.vocabulary = 512;
  config.width = 128;
  config.ffn_width = 384;
  config.layers = 4;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_width = 32;
  config.max_positions = 1024;
  return config;
}

inline bool is_built_in(const std::string& directory) {
  return directory.empty() || directory == "-";
}

/// The shape to measure: that of `directory`, or bench_config() without one.
inline ModelConfig config_of(const std::string& directory) {
  return is_built_in(directory) ? bench_config() : load_model_config(directory);
}

/// Multiply-adds of all matrices for one token, head included.
inline double products_per_token(const ModelConfig& c, bool head) {
  const std::int64_t attention = c.width * c.head_width * (2 * c.heads + 2 * c.kv_heads);
  const std::int64_t layer = attention + 3 * c.width * c.ffn_width;
  return static_cast<double>(c.layers * layer + (head ? c.vocabulary * c.width : 0));
}

/// Multiply-adds of scores and values for a token at `position`.
inline double attention_products(const ModelConfig& c, double position) {
  return static_cast<double>(2 * c.layers * c.heads * c.head_width) * position;
}

}  // namespace lie::bench
