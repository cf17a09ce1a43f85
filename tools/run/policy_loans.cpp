#include "tools/run/policy_loans.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/log.h"
#include "tools/run/device_collective.h"

namespace lie {
namespace {

/// Whether all members are on member 0's device.
bool share_device(Collective& group, const std::string& device) {
  const std::vector<std::string> all = texts_of_members(group, device);
  return std::ranges::count(all, all.front()) == std::ssize(all);
}

/// The first member's reason not to; empty: all are willing.
std::string refusal_of_any(Collective& group, const std::string& own) {
  for (std::string& refusal : texts_of_members(group, own)) {
    if (!refusal.empty()) return std::move(refusal);
  }
  return {};
}

}  // namespace

bool lend_policy(Collective& group, const std::string& device, Transformer& policy) {
  if (!share_device(group, device)) return false;
  std::string refusal;
  std::vector<SharedTensor> lent = policy.share(refusal).value_or(std::vector<SharedTensor>());
  broadcast_values(group, lent);
  refusal = refusal_of_any(group, refusal);
  const Log log("learner", 0);
  if (refusal.empty()) {
    log.info("{} on this GPU compute with the learner's weights: weight sync moves none",
             group.size() == 2 ? "the actor" : fmt::format("the {} actors", group.size() - 1));
  } else {
    log.warn(
        "actors on the learner's GPU hold weights of their own, which go through host memory: {}",
        refusal);
  }
  return refusal.empty();
}

std::optional<Transformer> borrow_policy(Collective& group, const std::string& device,
                                         const ModelConfig& config, Operators& operators) {
  if (!share_device(group, device)) return {};
  std::vector<SharedTensor> lent;
  broadcast_values(group, lent);
  std::string refusal;
  std::optional<Transformer> policy =
      lent.empty() ? std::nullopt : Transformer::borrow(config, operators, lent, refusal);
  if (!refusal_of_any(group, refusal).empty()) return {};
  return policy;
}

}  // namespace lie
