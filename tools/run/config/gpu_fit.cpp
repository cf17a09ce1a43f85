#include "tools/run/config/gpu_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "actors/kv_cache_size.h"
#include "common/base/error.h"
#include "common/text/counted.h"
#include "tools/run/config/role_layout.h"

namespace lie {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

std::string gibibytes(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

/// Returns the memory of a process of this role; none if there is no such role.
const MemoryPlan* plan_of(const std::vector<RoleMemory>& memory, std::string_view role) {
  const auto found = std::ranges::find(memory, role, &RoleMemory::role);
  return found == memory.end() ? nullptr : &found->memory;
}

/// A config with the roles that it gives to the ranks.
struct Candidate {
  TrainConfig config;
  RoleLayout layout;
};

/// What all candidates have in common.
struct Setting {
  const ModelConfig& model;
  const ComputeDTypes& dtypes;
  const GpuHosts& hosts;

  GpuUse use_of(const Candidate& candidate) const {
    TrainConfig config = candidate.config;
    set_cache(config, model, dtypes, candidate.layout, hosts);
    return fullest_gpu(candidate.layout, memory_of_roles(config, model, dtypes, candidate.layout),
                       hosts);
  }
};

/// A change of settings. Returns its text, such as "update.gradient_shards=1"; none if it does
/// not apply.
using Change = std::optional<std::string> (*)(const Setting&, Candidate&);

std::optional<std::string> fewer_gradients(const Setting&, Candidate& candidate) {
  auto& shards = candidate.config.trainer.gradient_shards;
  const auto learners = std::ssize(candidate.layout.learners);
  if (shards <= learners) return {};
  shards = learners;
  return fmt::format("update.gradient_shards={}", shards);
}

std::optional<std::string> shorter_micro_batch(const Setting&, Candidate& candidate) {
  auto& tokens = candidate.config.trainer.max_micro_batch_tokens;
  const std::int64_t longest = candidate.config.rollout.max_prompt_tokens +
                               candidate.config.rollout.sampling.max_response_tokens;
  if (tokens <= longest) return {};
  tokens = longest;
  return fmt::format("update.max_micro_batch_tokens={}", tokens);
}

std::optional<std::string> sharded_gradients(const Setting&, Candidate& candidate) {
  auto& stage = candidate.config.trainer.zero_stage;
  if (stage > 1) return {};
  stage = 2;
  return "update.zero_stage=2";
}

/// Needs several learners, which are not actors.
std::optional<std::string> sharded_weights(const Setting&, Candidate& candidate) {
  auto& [config, layout] = candidate;
  if (config.trainer.zero_stage == 3 || trains_adapter(config.model.lora)) return {};
  config.trainer.zero_stage = 3;
  try {
    layout = layout_of(config, layout.places);
  } catch (const Error&) {  // roles.placement is colocated
    return {};
  }
  if (layout.learners.size() < 2) return {};
  return "update.zero_stage=3";
}

std::optional<std::string> moments_on_host(const Setting&, Candidate& candidate) {
  auto& place = candidate.config.optimizer.moments_on;
  if (place == MomentsOn::kHost) return {};
  place = MomentsOn::kHost;
  return "optimizer.moments_on=host";
}

/// As many learners as there are GPUs, if as many ranks remain for actors.
std::optional<std::string> more_learners(const Setting& setting, Candidate& candidate) {
  auto& [config, layout] = candidate;
  if (layout.is_colocated()) return {};
  std::map<std::string, std::int64_t> ranks_of;
  for (const RankPlace& place : layout.places) ++ranks_of[place.host];
  const std::int64_t gpus = setting.hosts.gpus * std::ssize(ranks_of);
  const std::int64_t learners = std::min(gpus, (std::ssize(layout.places) - 1) / 2);
  if (learners <= std::ssize(layout.learners)) return {};
  config.roles.learners = learners;
  config.roles.actors = 0;
  std::string settings = fmt::format("roles.learners={}", learners);
  if (learners > config.trainer.gradient_shards) {  // each learner has at least one
    config.trainer.gradient_shards = learners;
    settings += fmt::format(" and update.gradient_shards={}", learners);
  }
  try {
    layout = layout_of(config, layout.places);
  } catch (const Error&) {  // there are not enough GPUs for as many actors
    return {};
  }
  return settings;
}

/// The cache takes what the other settings leave.
std::optional<std::string> fitting_cache(const Setting&, Candidate& candidate) {
  auto& cache = candidate.config.rollout.cache_mebibytes;
  if (candidate.layout.actors.empty() || cache == 0) return {};
  cache = 0;
  return "rollout.cache_mebibytes=0";
}

/// In the order in which they are applied: learners before the shards that they divide. Of two that
/// suffice the first is proposed: ZeRO stage 2 before stage 3, which makes passes slower, and
/// moments on the host last, since each update then moves them.
constexpr std::array<Change, 7> kChanges = {more_learners,     fewer_gradients, shorter_micro_batch,
                                            sharded_gradients, sharded_weights, fitting_cache,
                                            moments_on_host};

/// Returns the settings of a set of changes, if all of them apply and the roles then fit.
std::optional<std::vector<std::string>> settings_of(unsigned chosen, const Setting& setting,
                                                    Candidate candidate) {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < kChanges.size(); ++i) {
    if ((chosen >> i & 1U) == 0) continue;
    const auto text = kChanges[i](setting, candidate);
    if (!text) return {};
    settings.push_back(*text);
  }
  if (setting.use_of(candidate).bytes > setting.hosts.bytes) return {};
  return settings;
}

/// Returns the fewest settings with which the roles fit; none if no set does.
std::optional<std::vector<std::string>> fewest_settings(const Setting& setting,
                                                        const Candidate& candidate) {
  const auto sets = 1U << kChanges.size();
  for (int size = 1; size <= static_cast<int>(kChanges.size()); ++size) {
    for (unsigned chosen = 1; chosen < sets; ++chosen) {
      if (std::popcount(chosen) != size) continue;
      auto settings = settings_of(chosen, setting, candidate);
      if (settings) return settings;
    }
  }
  return {};
}

}  // namespace

GpuUse fullest_gpu(const RoleLayout& layout, const std::vector<RoleMemory>& memory,
                   const GpuHosts& hosts) {
  std::map<std::pair<std::string, std::int64_t>, GpuUse> uses;
  const std::vector<int> gpus = layout.gpus();
  const auto add = [&](int rank, std::string_view role, std::int64_t GpuUse::*count) {
    const MemoryPlan* plan = plan_of(memory, role);
    if (plan == nullptr) return;
    const std::string& host = layout.places[static_cast<std::size_t>(rank)].host;
    GpuUse& use = uses[{host, gpus[static_cast<std::size_t>(rank)] % hosts.gpus}];
    ++(use.*count);
    use.bytes += plan->device_bytes();
  };
  for (const int rank : layout.learners) add(rank, "learner", &GpuUse::learners);
  for (const int rank : layout.actors) add(rank, "actor", &GpuUse::actors);
  GpuUse fullest;
  for (auto& [gpu, use] : uses) {
    const std::int64_t actors_apart = layout.is_colocated() ? 0 : use.actors;
    use.bytes += (use.learners + actors_apart) * hosts.process_bytes;
    if (use.bytes > fullest.bytes) fullest = use;
  }
  return fullest;
}

std::int64_t fullest_host(const RoleLayout& layout, const std::vector<RoleMemory>& memory) {
  std::map<std::string, std::int64_t> bytes;
  const auto add = [&](int rank, std::string_view role) {
    const MemoryPlan* plan = plan_of(memory, role);
    if (plan == nullptr) return;
    bytes[layout.places[static_cast<std::size_t>(rank)].host] +=
        plan->bytes() - plan->device_bytes();
  };
  for (const int rank : layout.learners) add(rank, "learner");
  for (const int rank : layout.actors) add(rank, "actor");
  std::int64_t most = 0;
  for (const auto& [host, of_host] : bytes) most = std::max(most, of_host);
  return most;
}

void set_cache(TrainConfig& config, const ModelConfig& model, const ComputeDTypes& dtypes,
               const RoleLayout& layout, const GpuHosts& hosts) {
  if (config.rollout.cache_mebibytes > 0 || layout.actors.empty()) return;
  const std::int64_t smallest = smallest_cache_mebibytes(model, config.rollout, dtypes.packed);
  const auto fits = [&](std::int64_t mebibytes) {
    TrainConfig tried = config;
    tried.rollout.cache_mebibytes = mebibytes;
    const auto memory = memory_of_roles(tried, model, dtypes, layout);
    return fullest_gpu(layout, memory, hosts).bytes <= cache_share(hosts.bytes);
  };
  std::int64_t largest = smallest;  // also where it does not fit: gpu_misfit() says so
  std::int64_t beyond = hosts.bytes / kMebibyte;
  while (beyond - largest > 1) {
    const std::int64_t middle = std::midpoint(largest, beyond);
    (fits(middle) ? largest : beyond) = middle;
  }
  config.rollout.cache_mebibytes = largest;
}

std::string gpu_misfit(const TrainConfig& config, const ModelConfig& model,
                       const ComputeDTypes& dtypes, const RoleLayout& layout,
                       const GpuHosts& hosts) {
  const Setting setting{model, dtypes, hosts};
  const Candidate now{config, layout};
  const GpuUse use = setting.use_of(now);
  if (use.bytes <= hosts.bytes) return "";
  std::vector<std::string> roles;
  if (use.learners > 0) roles.push_back(counted(use.learners, "learner"));
  if (use.actors > 0) roles.push_back(counted(use.actors, "actor"));
  const std::string problem =
      fmt::format("the run does not fit: a GPU with {} needs {} of {}", fmt::join(roles, " and "),
                  gibibytes(use.bytes), gibibytes(hosts.bytes));
  const auto settings = fewest_settings(setting, now);
  if (settings) return fmt::format("{}; it fits with {}", problem, fmt::join(*settings, " and "));
  return fmt::format(
      "{}, also with as many learners as GPUs or ranks allow, update.gradient_shards equal to "
      "them, update.zero_stage=2 or 3, a micro-batch of one response, the smallest cache and "
      "moments "
      "on the host; use more GPUs and ranks, a smaller model, or shorter responses",
      problem);
}

}  // namespace lie
