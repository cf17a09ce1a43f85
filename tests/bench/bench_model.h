// The models of the speed benchmarks: a Qwen3 model of 0.85 M parameters, one with the shape of a
// Hugging Face directory, or a published one. All have random weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/transformer/transformer.h"
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

/// Returns the published shape of Qwen3-1.7B ("1.7b") or Qwen3-4B ("4b").
inline ModelConfig qwen3_config(std::string_view size) {
  const bool is_4b = size == "4b";
  ModelConfig config;
  config.vocabulary = 151936;
  config.width = is_4b ? 2560 : 2048;
  config.ffn_width = is_4b ? 9728 : 6144;
  config.layers = is_4b ? 36 : 28;
  config.heads = is_4b ? 32 : 16;
  config.kv_heads = 8;
  config.head_width = 128;
  config.max_positions = 40960;
  config.rope_theta = 1e6;
  config.end_of_sequence_ids = {151645};
  config.begin_of_sequence_id = 151643;
  return config;
}

/// Returns one sequence of `tokens` tokens, of which all but the last row are scored.
inline PackedBatch one_sequence(const ModelConfig& config, std::int64_t tokens) {
  PackedBatch batch;
  batch.starts = {0, static_cast<std::int32_t>(tokens)};
  for (std::int32_t t = 0; t < tokens; ++t) {
    batch.tokens.push_back(static_cast<std::int32_t>((t * std::int64_t{7919}) % config.vocabulary));
  }
  for (std::int32_t t = 0; t + 1 < tokens; ++t) {
    batch.rows.push_back(t);
    batch.targets.push_back(batch.tokens[static_cast<std::size_t>(t) + 1]);
  }
  return batch;
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
