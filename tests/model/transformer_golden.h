// Reads golden/transformer_<case>.golden and golden/lora_<case>.golden. The formats are described
// in the scripts beside them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/config/model_config.h"
#include "model/transformer/transformer.h"
#include "tests/directories.h"

namespace lie::test {

/// The content of one file: the model's shape, the batch and the expected tensors.
struct Golden {
  ModelConfig config;
  float temperature = 1;
  PackedBatch batch;
  std::map<std::string, std::vector<float>> tensors;
};

inline std::vector<std::int32_t> rest_of(std::istringstream& line) {
  std::vector<std::int32_t> ints;
  for (std::int32_t i; line >> i;) ints.push_back(i);
  return ints;
}

inline void set_llama3(ModelConfig& config, const std::string& key, double value) {
  if (!config.llama3_rope) config.llama3_rope.emplace();
  Llama3Rope& rope = *config.llama3_rope;
  if (key == "factor") rope.factor = value;
  if (key == "low_freq_factor") rope.low_frequency_factor = value;
  if (key == "high_freq_factor") rope.high_frequency_factor = value;
  if (key == "original_max_position_embeddings") {
    rope.original_positions = static_cast<std::int64_t>(value);
  }
}

inline void set_lora(ModelConfig& config, const std::string& key, double value) {
  constexpr std::string_view kTarget = "target_";
  if (!config.lora) config.lora.emplace();
  if (key == "rank") config.lora->rank = static_cast<std::int64_t>(value);
  if (key == "alpha") config.lora->alpha = value;
  if (key == "nf4") config.lora->nf4 = value != 0;
  if (key.starts_with(kTarget)) config.lora->targets.push_back(key.substr(kTarget.size()));
}

inline void set_config(Golden& golden, const std::string& key, double value) {
  const auto integer = static_cast<std::int64_t>(value);
  ModelConfig& c = golden.config;
  if (key == "vocab_size") c.vocabulary = integer;
  if (key == "hidden_size") c.width = integer;
  if (key == "intermediate_size") c.ffn_width = integer;
  if (key == "num_hidden_layers") c.layers = integer;
  if (key == "num_attention_heads") c.heads = integer;
  if (key == "num_key_value_heads") c.kv_heads = integer;
  if (key == "head_dim") c.head_width = integer;
  if (key == "max_position_embeddings") c.max_positions = integer;
  if (key == "rope_theta") c.rope_theta = value;
  if (key == "rms_norm_eps") c.rms_norm_eps = value;
  if (key == "tied") c.tied_embeddings = integer != 0;
  if (key == "qk_norm") c.qk_norm = integer != 0;
  if (key == "qkv_bias") c.qkv_bias = integer != 0;
  if (key == "output_bias") c.output_bias = integer != 0;
  if (key.starts_with("llama3_")) set_llama3(c, key.substr(7), value);
  if (key.starts_with("lora_")) set_lora(c, key.substr(5), value);
  if (key == "temperature") golden.temperature = static_cast<float>(value);
}

inline Golden read_golden(const std::string& name, const std::string& kind = "transformer") {
  std::ifstream file(
      std::string(source_directory()) + "/tests/model/golden/" + kind + "_" + name + ".golden",
      std::ios::binary);
  Golden golden;
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::string text; std::getline(file, text) && !text.empty();) {
    std::istringstream line(text);
    std::string what, key;
    line >> what;
    if (what == "tokens") golden.batch.tokens = rest_of(line);
    if (what == "starts") golden.batch.starts = rest_of(line);
    if (what == "rows") golden.batch.rows = rest_of(line);
    if (what == "targets") golden.batch.targets = rest_of(line);
    if (what != "config" && what != "tensor") continue;
    double value = 0;
    line >> key >> value;
    if (what == "config") set_config(golden, key, value);
    if (what == "tensor") order.emplace_back(key, static_cast<std::size_t>(value));
  }
  if (!golden.config.qk_norm) {  // the files do not name the architecture
    const bool is_qwen2 = golden.config.qkv_bias && !golden.config.output_bias;
    golden.config.architecture = is_qwen2 ? "Qwen2ForCausalLM" : "LlamaForCausalLM";
  }
  for (const auto& [tensor, count] : order) {
    std::vector<float>& x = golden.tensors[tensor];
    x.resize(count);
    file.read(reinterpret_cast<char*>(x.data()),
              static_cast<std::streamsize>(count * sizeof(float)));
  }
  EXPECT_TRUE(file.good()) << name;
  return golden;
}

/// Returns the largest absolute difference divided by the largest expected absolute value.
inline double relative_error(std::span<const float> got, std::span<const float> expected) {
  if (got.size() != expected.size()) return INFINITY;
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst =
        std::max(worst, std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst / largest;
}

}  // namespace lie::test
