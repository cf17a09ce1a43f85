#include "model/config/lora.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "common/base/error.h"
#include "common/io/json_node.h"

namespace lie {
namespace {

constexpr std::uint64_t kMaxRank = 1 << 16;

/// A key of adapter_config.json that must be absent, null, false or empty.
struct Unsupported {
  const char* key;
  const char* reason;
};

constexpr Unsupported kUnsupported[] = {
    {"use_dora", "DoRA is not implemented"},
    {"use_rslora",
     "its scale alpha / sqrt(r) is not implemented; set it to false and lora_alpha "
     "to lora_alpha * sqrt(r)"},
    {"rank_pattern", "one rank for all modules is implemented"},
    {"alpha_pattern", "one alpha for all modules is implemented"},
    {"modules_to_save", "modules trained in full are not implemented"},
    {"layers_to_transform", "pairs in all layers are implemented"},
    {"exclude_modules", "name the modules in target_modules"},
    {"target_parameters", "pairs of single parameters are not implemented"},
    {"trainable_token_indices", "trained token embeddings are not implemented"},
    {"layer_replication", "repeated layers are not implemented"},
    {"fan_in_fan_out", "transposed weights are not implemented"},
    {"lora_bias", "biases of pairs are not implemented"},
    {"use_qalora", "QA-LoRA is not implemented"},
    {"use_bdlora", "BD-LoRA is not implemented"},
    {"alora_invocation_tokens", "activated LoRA is not implemented"},
    {"arrow_config", "Arrow routing is not implemented"},
    {"kasa_config", "KaSA is not implemented"},
    {"monteclora_config", "MonteCLoRA is not implemented"},
    {"velora_config", "VeLoRA is not implemented"},
};

/// Keys of PEFT that change nothing about pairs that are loaded.
constexpr const char* kWithoutEffect[] = {"peft_type",
                                          "task_type",
                                          "base_model_name_or_path",
                                          "r",
                                          "lora_alpha",
                                          "lora_dropout",
                                          "target_modules",
                                          "bias",
                                          "init_lora_weights",
                                          "inference_mode",
                                          "auto_mapping",
                                          "revision",
                                          "megatron_config",
                                          "megatron_core",
                                          "loftq_config",
                                          "eva_config",
                                          "corda_config",
                                          "lora_ga_config",
                                          "layers_pattern",
                                          "peft_version",
                                          "qalora_group_size",
                                          "runtime_config",
                                          "ensure_weight_tying"};

bool is_unset(const Json& value) {
  return value.is_null() || value == false ||
         ((value.is_array() || value.is_object()) && value.empty());
}

void reject_unsupported(const JsonNode& root) {
  const JsonNode type = root.at("peft_type");
  if (type.json() != "LORA") type.reject("\"LORA\"");
  for (const auto& [key, reason] : kUnsupported) {
    const JsonNode node = root.at(key);
    if (!is_unset(node.json())) node.reject(fmt::format("no value: {}", reason));
  }
  const JsonNode bias = root.at("bias");
  if (!bias.is_null() && bias.json() != "none") {
    bias.reject("\"none\": trained biases are not implemented");
  }
  const JsonNode init = root.at("init_lora_weights");
  for (const char* changes_base : {"pissa", "olora", "loftq", "corda", "lora_ga"}) {
    if (init.json().is_string() && init.text().starts_with(changes_base)) {
      init.reject(
          "true: this initialization changes the base weights; convert the adapter with PEFT");
    }
  }
}

std::vector<std::string> read_targets(const JsonNode& node) {
  std::vector<std::string> names;
  if (node.json().is_string()) {
    names = {node.text()};
    const bool is_name = names.front() == kAllLinear ||
                         std::ranges::find(kLoraModules, names.front()) != kLoraModules.end();
    if (!is_name) {
      node.reject(fmt::format("{} or a list of names: regular expressions are not implemented",
                              kAllLinear));
    }
  } else {
    for (const JsonNode& name : node.items()) names.push_back(name.text());
  }
  return lora_targets(names, node.place());
}

}  // namespace

std::vector<std::string> lora_targets(std::span<const std::string> names,
                                      const std::string& place) {
  std::vector<std::string> targets;
  const bool is_all = std::ranges::find(names, kAllLinear) != names.end();
  for (const char* module : kLoraModules) {
    if (is_all || std::ranges::find(names, module) != names.end()) targets.emplace_back(module);
  }
  for (const std::string& name : names) {
    if (name == kAllLinear || std::ranges::find(targets, name) != targets.end()) continue;
    const bool is_outer = name == "lm_head" || name == "embed_tokens";
    fail("{}: found \"{}\", expected {} or {}{}", place, name, kAllLinear,
         fmt::join(kLoraModules, ", "),
         is_outer ? ": pairs outside of the blocks are not implemented" : "");
  }
  if (targets.empty()) fail("{}: names no module; {} is usual", place, kAllLinear);
  return targets;
}

std::vector<std::string> unknown_lora_keys(const std::filesystem::path& directory) {
  std::vector<std::string> keys;
  const Json json = read_json(directory / kAdapterConfigFile);
  for (const auto& [key, value] : json.items()) {
    if (!is_unset(value) && std::ranges::find(kWithoutEffect, key) == std::end(kWithoutEffect)) {
      keys.push_back(key);
    }
  }
  return keys;
}

std::optional<LoraConfig> load_lora_config(const std::filesystem::path& directory) {
  const auto path = directory / kAdapterConfigFile;
  if (!std::filesystem::exists(path)) return {};
  const Json json = read_json(path);
  const JsonNode root(&json, path.string() + ": ");
  root.object();
  reject_unsupported(root);
  LoraConfig config;
  config.rank = root.at("r").size(kMaxRank);
  config.alpha = root.at("lora_alpha").positive();
  config.targets = read_targets(root.at("target_modules"));
  const JsonNode base = root.at("base_model_name_or_path");
  if (!base.is_null()) config.base = base.text();
  return config;
}

void save_lora_config(const LoraConfig& config, const std::filesystem::path& directory) {
  const Json json = {{"peft_type", "LORA"},
                     {"task_type", "CAUSAL_LM"},
                     {"base_model_name_or_path",
                      std::filesystem::absolute(config.base).lexically_normal().string()},
                     {"r", config.rank},
                     {"lora_alpha", config.alpha},
                     {"lora_dropout", 0.0},
                     {"target_modules", config.targets},
                     {"bias", "none"},
                     {"fan_in_fan_out", false},
                     {"init_lora_weights", true},
                     {"inference_mode", true},
                     {"modules_to_save", nullptr},
                     {"use_dora", false},
                     {"use_rslora", false}};
  write_json(json, directory / kAdapterConfigFile);
}

}  // namespace lie
