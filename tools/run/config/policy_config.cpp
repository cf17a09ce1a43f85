#include "tools/run/config/policy_config.h"

#include <algorithm>
#include <vector>

#include "common/base/error.h"
#include "learner/checkpoint/checkpoint_parts.h"

namespace lie {

namespace fs = std::filesystem;

PolicyFiles policy_files(const ModelOptions& options) {
  return find_policy(options.path, options.adapter);
}

namespace {

bool is_nf4(const LoraOptions& options) {
  return options.quantize_base == BaseQuantization::kNormalFloat4;
}

/// Throws Error if a checkpoint's adapter was trained on a base of another quantization. Adapters
/// of PEFT do not say on which.
void check_quantization(const PolicyFiles& policy, const LoraOptions& options) {
  const bool was_nf4 = stored_lora(policy).nf4;
  if (was_nf4 == is_nf4(options) || base_sha256_of_adapter(policy.adapter).empty()) return;
  fail("{}: the adapter was trained on a base {}, but model.lora.quantize_base is {}; set it to {}",
       policy.adapter.string(), was_nf4 ? "in NF4" : "that is not quantized",
       was_nf4 ? "none" : "nf4", was_nf4 ? "nf4" : "none");
}

/// Throws Error if the rank is above the largest that a targeted matrix can have.
void check_rank(const ModelConfig& config) {
  const std::vector<Parameter> pairs = adapter_layout(config);
  for (const Parameter& p : parameter_layout(config)) {
    if (!may_have_pair(p.role) || !has_parameter(pairs, p.layer, pair_of(p.role).a)) continue;
    if (config.lora->rank <= std::min(p.rows, p.cols)) continue;
    fail("model.lora.rank {}: {} has the shape [{}, {}], so its rank is at most {}; lower the rank",
         config.lora->rank, p.name, p.rows, p.cols, std::min(p.rows, p.cols));
  }
}

}  // namespace

ModelConfig trained_config(const ModelOptions& options, const fs::path& directory) {
  ModelConfig config = load_model_config(directory);
  if (!trains_adapter(options.lora)) return config;
  config.lora = LoraConfig{.rank = options.lora.rank,
                           .alpha = options.lora.alpha,
                           .targets = lora_targets(options.lora.targets, "model.lora.targets"),
                           .base = policy_files(options).base,
                           .nf4 = is_nf4(options.lora)};
  check_rank(config);
  if (config.lora->nf4) check_nf4_blocks(parameter_layout(config));
  return config;
}

ModelConfig generation_config(const fs::path& model, const Tokenizer& tokenizer) {
  ModelConfig config = load_model_config(model);
  if (const auto id = tokenizer.begin_of_sequence_id()) config.begin_of_sequence_id = id;
  return config;
}

void check_trained(const ModelOptions& options) {
  const PolicyFiles policy = policy_files(options);
  if (policy.adapter.empty()) return;
  if (!trains_adapter(options.lora)) {
    fail(
        "{}: is an adapter, and model.lora.rank is 0: set model.lora to its rank, alpha and "
        "targets to train it further, or merge it first with lie_cluster merge",
        policy.adapter.string());
  }
  const ModelConfig config = trained_config(options, options.path);
  check_adapter(policy.adapter, *config.lora, adapter_layout(config));
  check_quantization(policy, options.lora);
}

Weights start_weights(const ModelOptions& options, std::uint64_t seed, int learner, int learners,
                      Operators& operators) {
  const ModelConfig config = trained_config(options, options.path);
  if (!config.lora) {
    return load_weights(options.path, operators,
                        held_range(parameter_layout(config), learner, learners));
  }
  const fs::path adapter = policy_files(options).adapter;
  if (adapter.empty()) return initial_weights(config, seed, operators);
  Weights weights(config, operators);
  read_adapter(adapter, weights);
  return weights;
}

}  // namespace lie
