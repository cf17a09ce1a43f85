#include "tools/plan/workload.h"

#include <algorithm>

#include "actors/generator.h"
#include "common/base/dtype.h"
#include "common/base/error.h"
#include "model/config/parameter_layout.h"
#include "model/transformer/kv_cache.h"

namespace lie::planning {
namespace {

/// Responses that an actor has in flight, by the generator's rule (actors/generator.h): as many as
/// the KV cache holds at half their mean, or without preemption each at its longest.
std::int64_t responses_admitted(const TrainConfig& config, const ModelConfig& model, DType cached,
                                const MeanTokens& mean) {
  const RolloutOptions& rollout = config.rollout;
  const std::int64_t samples = config.tickets.samples_per_prompt;
  const std::int64_t held = rollout.preemption ? mean.response / 2 : rollout.longest_response();
  const std::int64_t of_sample =
      KvCache::pages_for(mean.prompt + held) - mean.prompt / KvCache::kPageTokens;
  const std::int64_t of_group = samples * of_sample + KvCache::pages_for(mean.prompt);
  const std::int64_t admitted = kv_cache_pages(model, rollout, cached) * samples / of_group;
  return std::clamp<std::int64_t>(admitted, 1, rollout.slots);
}

}  // namespace

Workload workload_of(const TrainConfig& config, const ModelConfig& model, DType cached,
                     const MeanTokens& mean) {
  if (config.tickets.dynamic_sampling.enabled) {
    fail(
        "rollout.dynamic_sampling.enabled: how many prompts a step draws depends on its answers, "
        "which a plan does not know; plan with --set rollout.dynamic_sampling.enabled=false and "
        "rollout.prompts_per_step at what is drawn");
  }
  const std::int64_t samples = config.tickets.samples_per_prompt;
  const auto elements = static_cast<double>(flat_elements(parameter_layout(model)));
  return {.prompts_per_step = config.tickets.prompts_per_step,
          .samples_per_prompt = samples,
          .max_staleness = config.tickets.max_staleness,
          .takes_first_groups = config.tickets.takes_first_groups(),
          .in_flight_weights = config.rollout.weights_change_in_flight(),
          .generator = {.slots = config.rollout.slots,
                        .in_flight = responses_admitted(config, model, cached, mean),
                        .least_pass_seconds =
                            static_cast<double>(config.rollout.pass_milliseconds) / 1e3},
          .mini_batch_prompts = config.update.mini_batch_prompts,
          .epochs = config.update.epochs,
          .gradient_shards = config.update.gradient_shards,
          .weights_bytes = elements * static_cast<double>(dtype_bytes(config.weight_sync.weights)),
          .gradient_bytes = elements * sizeof(float)};
}

}  // namespace lie::planning
