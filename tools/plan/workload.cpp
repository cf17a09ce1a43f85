#include "tools/plan/workload.h"

#include <algorithm>

#include "actors/generator.h"
#include "common/dtype.h"
#include "common/error.h"
#include "model/kv_cache.h"
#include "model/parameter_layout.h"

namespace lie::planning {
namespace {

/// Responses that the KV cache admits at once, each at its longest, as the generator reserves them.
/// Another rule of admission is to be modelled here.
std::int64_t responses_admitted(const RolloutOptions& rollout, const ModelConfig& model,
                                std::int64_t samples, std::int64_t prompt_tokens) {
  const std::int64_t whole =
      KvCache::pages_for(prompt_tokens + rollout.sampling.max_response_tokens);
  const std::int64_t of_sample = whole - prompt_tokens / KvCache::kPageTokens;
  const std::int64_t of_prompt = KvCache::pages_for(prompt_tokens);
  const std::int64_t of_group = samples * of_sample + of_prompt;
  const std::int64_t admitted = kv_cache_pages(model, rollout) * samples / of_group;
  return std::clamp<std::int64_t>(admitted, 1, rollout.slots);
}

}  // namespace

Workload workload_of(const TrainConfig& config, const ModelConfig& model,
                     std::int64_t prompt_tokens) {
  if (config.tickets.dynamic_sampling.enabled) {
    fail(
        "rollout.dynamic_sampling.enabled: how many prompts a step draws depends on its answers, "
        "which a plan does not know; plan with --set rollout.dynamic_sampling.enabled=false and "
        "rollout.prompts_per_step at what is drawn");
  }
  const std::int64_t samples = config.tickets.samples_per_prompt;
  const auto elements = static_cast<double>(flat_elements(parameter_layout(model)));
  return {
      .prompts_per_step = config.tickets.prompts_per_step,
      .samples_per_prompt = samples,
      .max_staleness = config.tickets.max_staleness,
      .generator = {.slots = config.rollout.slots,
                    .in_flight = responses_admitted(config.rollout, model, samples, prompt_tokens)},
      .mini_batch_prompts = config.update.mini_batch_prompts,
      .epochs = config.update.epochs,
      .lanes = config.update.lanes,
      .weights_bytes = elements * static_cast<double>(dtype_bytes(config.weight_sync.weights)),
      .gradient_bytes = elements * sizeof(float)};
}

}  // namespace lie::planning
