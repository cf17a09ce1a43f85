#include "tools/run/config/policy_config.h"

#include "common/base/error.h"
#include "learner/checkpoint/checkpoint_parts.h"

namespace lie {

namespace fs = std::filesystem;

PolicyFiles policy_files(const ModelOptions& options) {
  return find_policy(options.path, options.adapter);
}

std::string policy_sha256(const ModelOptions& options) {
  return policy_sha256(policy_files(options));
}

ModelConfig trained_config(const ModelOptions& options, const fs::path& directory) {
  ModelConfig config = load_model_config(directory);
  if (!trains_adapter(options.lora)) return config;
  config.lora = LoraConfig{.rank = options.lora.rank,
                           .alpha = options.lora.alpha,
                           .targets = lora_targets(options.lora.targets, "model.lora.targets"),
                           .base = policy_files(options).base};
  return config;
}

void check_trained(const ModelOptions& options) {
  const PolicyFiles policy = policy_files(options);
  if (policy.adapter.empty()) return;
  if (!trains_adapter(options.lora)) {
    fail(
        "{}: is an adapter, and model.lora.rank is 0: set model.lora to its rank, alpha and "
        "targets "
        "to train it further, or merge it first with lie_cluster merge",
        policy.adapter.string());
  }
  const ModelConfig config = trained_config(options, options.path);
  check_adapter(policy.adapter, *config.lora, adapter_layout(config));
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

std::string checked_base_sha256(const PolicyFiles& policy, const fs::path& adapter) {
  std::string found = StoredWeights(policy.base).sha256();
  const std::string expected = adapter.empty() ? "" : base_sha256_of_adapter(adapter);
  if (expected.empty() || expected == found) return found;
  fail(
      "{}: the adapter was trained on a base whose weights have SHA-256 {}, those of {} have {}: "
      "give the base that it was trained on",
      adapter.string(), expected, policy.base.string(), found);
}

}  // namespace lie
