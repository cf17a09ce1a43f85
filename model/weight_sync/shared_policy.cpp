#include "model/weight_sync/shared_policy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/process/log.h"
#include "model/collective/device_collective.h"

namespace lie {
namespace {

/// Returns for each actor the first learner on its GPU; empty if an actor's GPU has no learner.
std::vector<int> learners_of_actors(const SharedPolicyGroup& group) {
  const std::vector<std::string> gpus = gather_texts(group.members, group.gpu);
  const auto actors = gpus.begin() + group.learners;
  std::vector<int> learners;
  for (auto actor = actors; actor != gpus.end(); ++actor) {
    const auto learner = std::find(gpus.begin(), actors, *actor);
    if (learner == actors) return {};
    learners.push_back(static_cast<int>(learner - gpus.begin()));
  }
  return learners;
}

/// Every learner in turn broadcasts its handles, `own` on this member. Returns those of `learner`.
std::vector<SharedTensor> exchange_handles(const SharedPolicyGroup& group,
                                           const std::vector<SharedTensor>& own, int learner) {
  std::vector<SharedTensor> wanted;
  for (int root = 0; root < group.learners; ++root) {
    std::vector<SharedTensor> handles =
        root == group.members.rank() ? own : std::vector<SharedTensor>();
    broadcast_values(group.members, handles, root);
    if (root == learner) wanted = std::move(handles);
  }
  return wanted;
}

/// Returns the first member's reason for refusing; empty if no member refuses.
std::string first_refusal(Collective& members, const std::string& own) {
  for (std::string& refusal : gather_texts(members, own)) {
    if (!refusal.empty()) return std::move(refusal);
  }
  return {};
}

void log_outcome(std::size_t actors, const std::string& refusal) {
  const Log log("learner", 0);
  if (!refusal.empty()) {
    log.warn(
        "actors on the learners' GPUs hold weights of their own, which they receive through host "
        "memory: {}",
        refusal);
    return;
  }
  log.info("actors that compute with the weights of a learner on their GPU: {}; nothing is sent",
           actors);
}

}  // namespace

bool share_policy(const SharedPolicyGroup& group, Transformer& policy) {
  const std::vector<int> learners = learners_of_actors(group);
  if (learners.empty()) return false;
  const int me = group.members.rank();
  std::string refusal;
  std::vector<SharedTensor> handles;
  if (std::ranges::find(learners, me) != learners.end()) {
    handles = policy.share(refusal).value_or(handles);
  }
  exchange_handles(group, handles, me);
  refusal = first_refusal(group.members, refusal);
  if (me == 0) log_outcome(learners.size(), refusal);
  return refusal.empty();
}

std::optional<Transformer> open_shared_policy(const SharedPolicyGroup& group,
                                              const ModelConfig& config, Operators& operators) {
  const std::vector<int> learners = learners_of_actors(group);
  if (learners.empty()) return {};
  const int learner = learners[static_cast<std::size_t>(group.members.rank() - group.learners)];
  const std::vector<SharedTensor> handles = exchange_handles(group, {}, learner);
  std::string refusal;
  std::optional<Transformer> policy =
      handles.empty() ? std::nullopt
                      : Transformer::open_shared(config, operators, handles, refusal);
  if (!first_refusal(group.members, refusal).empty()) return {};
  return policy;
}

}  // namespace lie
