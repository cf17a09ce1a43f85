#include "tools/init/run_sizes.h"

#include <unistd.h>

#include <algorithm>

#include "actors/rollout_options.h"
#include "learner/batch.h"
#include "tools/run/memory_plan.h"

namespace lie {
namespace {

constexpr double kGibibyte = 1 << 30;
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kLongestFirstResponse = 1024;  // a first run is to show something soon

std::int64_t rounded_up(std::int64_t n) { return (n + 15) / 16 * 16; }

double machine_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// fp32 keys and values of one position.
std::int64_t kv_bytes(const ModelConfig& model) {
  return 2 * 4 * model.layers * model.kv_heads * model.head_width;
}

}  // namespace

RunSizes run_sizes(const WeightsPlan& model, std::int64_t longest_prompt) {
  RunSizes sizes;
  const std::int64_t positions = model.config.max_positions;
  sizes.max_prompt_tokens = std::min(rounded_up(longest_prompt), positions / 2);
  sizes.max_response_tokens = std::min(kLongestFirstResponse, positions - sizes.max_prompt_tokens);
  const std::int64_t wanted = RolloutOptions{}.slots * kv_bytes(model.config) *
                              (sizes.max_prompt_tokens + sizes.max_response_tokens);
  const auto eighth = static_cast<std::int64_t>(machine_bytes() / 8);
  sizes.cache_mebibytes = std::max<std::int64_t>(64, std::min(wanted, eighth) / kMebibyte);
  const LearnerSizes learner{.micro_batch_tokens = BatchOptions{}.max_micro_batch_tokens,
                             .copies_checkpoints = true,
                             .lanes = BatchOptions{}.lanes};
  const auto learner_bytes = learner_memory(model.config, DType::kFloat32, learner).bytes();
  sizes.learner_gibibytes = static_cast<double>(learner_bytes) / kGibibyte;
  const auto weights = 2 * static_cast<double>(model.memory_bytes);  // in panels, too
  sizes.actor_gibibytes = weights / kGibibyte + static_cast<double>(sizes.cache_mebibytes) / 1024;
  sizes.machine_gibibytes = machine_bytes() / kGibibyte;
  return sizes;
}

}  // namespace lie
