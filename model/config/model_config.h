// The architecture of a model, as described by a Hugging Face config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/config/lora.h"

namespace lie {

/// Llama 3's scaling of rotary embeddings for longer contexts (rope_type "llama3"). Frequencies
/// with a wavelength above original_positions / low_frequency_factor are divided by `factor`. Those
/// with a wavelength below original_positions / high_frequency_factor are unchanged. Frequencies
/// between the two are interpolated.
struct Llama3Rope {
  double factor = 8;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  std::int64_t original_positions = 8192;
  bool operator==(const Llama3Rope&) const = default;
};

/// Shapes and constants of a decoder-only transformer of the Qwen3, Qwen2 or Llama family.
struct ModelConfig {
  std::string architecture = "Qwen3ForCausalLM";  // Qwen2ForCausalLM, LlamaForCausalLM
  std::int64_t vocabulary = 0;                    // V
  std::int64_t width = 0;                         // D, hidden_size
  std::int64_t ffn_width = 0;                     // F, intermediate_size
  std::int64_t layers = 0;                        // L
  std::int64_t heads = 0;                         // H
  std::int64_t kv_heads = 0;                      // K
  std::int64_t head_width = 0;                    // head_dim, a multiple of 16
  std::int64_t max_positions = 0;                 // max_position_embeddings
  double rope_theta = 10000.0;
  std::optional<Llama3Rope> llama3_rope = {};  // absent for rope_type "default"
  double rms_norm_eps = 1e-6;
  double initializer_range = 0.02;
  bool qk_norm = true;          // RMSNorm of each query and key head (Qwen3)
  bool qkv_bias = false;        // the projections to queries, keys and values have biases
  bool output_bias = false;     // attention's output projection has a bias
  bool tied_embeddings = true;  // the output head is the embedding matrix
  std::vector<std::int32_t> end_of_sequence_ids;  // each of them ends a response
  // These ids are not used here, but saved for other programs that read the model.
  std::optional<std::int32_t> begin_of_sequence_id = {}, padding_id = {};
  /// The adapter of the policy, whose parameters alone are trained. Empty: the policy has none.
  /// load_model_config() leaves it empty.
  std::optional<LoraConfig> lora = {};
};

/// Reads `directory/config.json`. End-of-sequence ids are those of generation_config.json, if it
/// exists, then those of config.json. Throws Error that names the file and the missing, unknown or
/// unsupported key.
ModelConfig load_model_config(const std::filesystem::path& directory);

/// Writes `directory/config.json` so that Hugging Face transformers opens it.
void save_model_config(const ModelConfig& config, const std::filesystem::path& directory);

/// Writes the start model's generation_config.json, if it has one, with the end-of-sequence ids of
/// `config`. If the ids are the same, the copy is byte for byte.
void save_generation_config(const ModelConfig& config, const std::filesystem::path& start_model,
                            const std::filesystem::path& directory);

}  // namespace lie
