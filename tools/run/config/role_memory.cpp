#include "tools/run/config/role_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "model/config/model_config.h"
#include "model/weight_sync/arriving_weights.h"
#include "model/weights/weights.h"
#include "tools/run/config/devices.h"

namespace lie {
namespace {

/// Returns the tokens of the largest micro-batch. Sequences are never split.
std::int64_t micro_batch_tokens(const TrainConfig& config) {
  const std::int64_t longest =
      config.rollout.max_prompt_tokens + config.rollout.sampling.max_response_tokens;
  const std::int64_t of_mini_batch =
      config.update.mini_batch_prompts * config.tickets.samples_per_prompt * longest;
  return std::min(std::max(config.trainer.max_micro_batch_tokens, longest), of_mini_batch);
}

/// Returns the dtype in which an adapter's base is held. Without its files, which a plan does not
/// need, it is the one that the operators compute with.
DType frozen_dtype(const TrainConfig& config, const ModelConfig& model, DType packed) {
  if (!model.lora || !has_weights(model.lora->base)) return packed;
  return fixed_dtype(config.model, plan_weights(model.lora->base), packed);
}

/// Returns whether the actors compute with the weights of the learner in their process.
bool actors_share_policy(const TrainConfig& config, const RoleLayout& layout) {
  return layout.is_colocated() && allows_shared_policy(config);
}

/// Returns the bytes of the KV cache if training passes use its memory in turn. On the CPU they do
/// only with one thread, so a plan counts both.
std::int64_t shared_cache_bytes(const TrainConfig& config, const ModelConfig& model,
                                const ComputeDTypes& dtypes, const RoleLayout& layout) {
  if (!is_on_gpu(config.model) || !actors_share_policy(config, layout)) return 0;
  return planned_cache_bytes(model, config.rollout, dtypes.packed);
}

}  // namespace

std::vector<RoleMemory> memory_of_roles(const TrainConfig& config, const ModelConfig& model,
                                        const ComputeDTypes& dtypes, const RoleLayout& layout) {
  const std::string teacher = teacher_of(config.policy_loss);
  const LearnerSizes sizes{
      .micro_batch_tokens = micro_batch_tokens(config),
      .activation_bytes = config.trainer.activation_mebibytes << 20,
      .cache_bytes = shared_cache_bytes(config, model, dtypes, layout),
      .has_reference = config.policy_loss.kl_coefficient > 0,
      .teacher_bytes = teacher.empty() ? 0 : packed_bytes(load_model_config(teacher), dtypes),
      .copies_checkpoints = config.checkpoint.background && config.checkpoint.every > 0,
      .gradient_shards = config.trainer.gradient_shards,
      .zero_stage = config.trainer.zero_stage,
      .moments = config.optimizer.moments,
      .moments_on_host = is_on_gpu(config.model) && config.optimizer.moments_on == MomentsOn::kHost,
      .sends_weights = !layout.actors.empty() && !actors_share_policy(config, layout),
      .frozen = frozen_dtype(config, model, dtypes.packed),
      .learners = static_cast<int>(layout.learners.size())};
  std::vector<RoleMemory> roles = {{"learner", learner_memory(model, dtypes, sizes)}};
  if (layout.actors.empty()) return roles;
  const bool shares = config.roles.share_weights && can_share_weights(config.model) &&
                      layout.actors.size() > 1 && !layout.is_colocated();
  const DType base = shares ? dtypes.packed : sizes.frozen;
  MemoryPlan actor =
      actor_memory(model, dtypes, config.rollout, model.lora ? std::optional(base) : std::nullopt);
  if (model.lora) actor.parts.front().bytes += arriving_weight_bytes(model);
  if (actors_share_policy(config, layout)) actor.parts.front().bytes = 0;
  if (shares) actor.parts.front().what = "weights (one copy a host)";
  roles.push_back({"actor", std::move(actor)});
  return roles;
}

}  // namespace lie
