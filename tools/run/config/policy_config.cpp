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
                           .base = policy_files(options).base};
  check_rank(config);
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
