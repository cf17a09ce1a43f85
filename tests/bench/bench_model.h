// The model of the speed benchmarks: a Qwen3 model of 0.85 M parameters, or a model with the shape
// of a Hugging Face directory and random weights.
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

/// Returns the shape to measure: that of the model in `directory`, or bench_config() if it is
/// empty.
inline ModelConfig config_of(const std::string& directory) {
  return is_built_in(directory) ? bench_config() : load_model_config(directory);
}

/// Returns the multiply-adds of all matrices for one token, including the head.
inline double products_per_token(const ModelConfig& c, bool head) {
  const std::int64_t attention = c.width * c.head_width * (2 * c.heads + 2 * c.kv_heads);
  const std::int64_t layer = attention + 3 * c.width * c.ffn_width;
  return static_cast<double>(c.layers * layer + (head ? c.vocabulary * c.width : 0));
}

/// Returns the multiply-adds of attention scores and values for a token at `position`.
inline double attention_products(const ModelConfig& c, double position) {
  return static_cast<double>(2 * c.layers * c.heads * c.head_width) * position;
}

}  // namespace lie::bench
