// The shape of a low-rank adapter (LoRA, arXiv:2106.09685), and PEFT's adapter_config.json, which
// stores it. A linear layer with a pair computes y = W x + (alpha / rank) B (A x). The base matrix
// W is frozen.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lie {

/// PEFT's names of the linear layers that may have a pair, in the order of a block.
inline constexpr std::array kLoraModules = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                            "gate_proj", "up_proj", "down_proj"};
/// The target that stands for all of kLoraModules.
inline constexpr const char* kAllLinear = "all-linear";
inline constexpr const char* kAdapterConfigFile = "adapter_config.json";
inline constexpr const char* kAdapterFile = "adapter_model.safetensors";

struct LoraConfig {
  std::int64_t rank = 0;             // r, at least 1
  double alpha = 0;                  // lora_alpha, above 0
  std::vector<std::string> targets;  // of kLoraModules, in their order
  std::filesystem::path base = {};   // model directory of the frozen weights
  std::string base_sha256 = {};      // of the base's weights; empty: unknown
  bool nf4 = false;                  // the base's linear layers are quantized to NF4 when read
  float scale() const { return static_cast<float>(alpha / static_cast<double>(rank)); }
};

/// Returns the modules that `names` mean, in the order of kLoraModules. Throws Error that begins
/// with `place` if a name is unknown or if there is none.
std::vector<std::string> lora_targets(std::span<const std::string> names, const std::string& place);

/// Reads adapter_config.json. Returns nothing if the directory has none. Throws Error that names
/// key and reason if the adapter is of a kind that is not implemented.
std::optional<LoraConfig> load_lora_config(const std::filesystem::path& directory);

/// Returns the keys of adapter_config.json that are set and not known.
std::vector<std::string> unknown_lora_keys(const std::filesystem::path& directory);

/// Writes adapter_config.json as PEFT does.
void save_lora_config(const LoraConfig& config, const std::filesystem::path& directory);

}  // namespace lie
