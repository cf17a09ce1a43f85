#include "tools/run/roles/shared_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/process/log.h"
#include "tools/run/roles/device_collective.h"

namespace lie {
namespace {

/// Of each actor, in their order, the learner that lends it its policy; empty where one has none.
std::vector<int> lenders(const LoanMembers& members) {
  const std::vector<std::string> devices = texts_of_members(members.group, members.device);
  const auto actors = devices.begin() + members.learners;
  std::vector<int> all;
  for (auto actor = actors; actor != devices.end(); ++actor) {
    const auto lender = std::find(devices.begin(), actors, *actor);
    if (lender == actors) return {};
    all.push_back(static_cast<int>(lender - devices.begin()));
  }
  return all;
}

/// What the learners lend, each in its turn; the own lender's.
std::vector<SharedTensor> exchange_lent(const LoanMembers& members,
                                        const std::vector<SharedTensor>& own, int lender) {
  std::vector<SharedTensor> taken;
  for (int learner = 0; learner < members.learners; ++learner) {
    std::vector<SharedTensor> lent =
        learner == members.group.rank() ? own : std::vector<SharedTensor>();
    broadcast_values(members.group, lent, learner);
    if (learner == lender) taken = std::move(lent);
  }
  return taken;
}

/// The first member's reason not to; empty: all are willing.
std::string refusal_of_any(Collective& group, const std::string& own) {
  for (std::string& refusal : texts_of_members(group, own)) {
    if (!refusal.empty()) return std::move(refusal);
  }
  return {};
}

}  // namespace

bool lend_policy(const LoanMembers& members, Transformer& policy) {
  const std::vector<int> all = lenders(members);
  if (all.empty()) return false;
  const int me = members.group.rank();
  std::string refusal;
  std::vector<SharedTensor> lent;
  if (std::ranges::find(all, me) != all.end()) lent = policy.share(refusal).value_or(lent);
  exchange_lent(members, lent, me);
  refusal = refusal_of_any(members.group, refusal);
  if (me > 0) return refusal.empty();
  const Log log("learner", 0);
  const std::string actors =
      all.size() == 1 ? "the actor" : fmt::format("the {} actors", all.size());
  if (refusal.empty()) {
    log.info("{} on the learners' GPUs compute with their weights: weight sync moves none", actors);
  } else {
    log.warn(
        "actors on the learners' GPUs hold weights of their own, which go through host memory: {}",
        refusal);
  }
  return refusal.empty();
}

std::optional<Transformer> borrow_policy(const LoanMembers& members, const ModelConfig& config,
                                         Operators& operators) {
  const std::vector<int> all = lenders(members);
  if (all.empty()) return {};
  const int lender = all[static_cast<std::size_t>(members.group.rank() - members.learners)];
  const std::vector<SharedTensor> lent = exchange_lent(members, {}, lender);
  std::string refusal;
  std::optional<Transformer> policy =
      lent.empty() ? std::nullopt : Transformer::borrow(config, operators, lent, refusal);
  if (!refusal_of_any(members.group, refusal).empty()) return {};
  return policy;
}

}  // namespace lie
