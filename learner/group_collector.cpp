#include "learner/group_collector.h"

#include <algorithm>
#include <utility>

namespace lie {

std::optional<std::vector<ScoredGroup>> GroupCollector::collect(
    std::int64_t step, std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out) {
  std::vector<ScoredGroup> groups = journal_.take_known(step, tickets);
  GroupsDone done{.step = step,
                  .purpose = tickets.empty() ? Purpose::kTrain : tickets.front().purpose,
                  .groups = std::ssize(groups),
                  .all_groups = std::ssize(groups) + std::ssize(tickets)};
  watcher_(done);
  const bool all = coordinator_.collect(std::move(tickets), when_out, [&](ScoredGroup group) {
    keep(group);
    ++done.groups;
    for (const Response& response : group.rollout.responses) {
      done.tokens += std::ssize(response.ids);
    }
    watcher_(done);
    groups.push_back(std::move(group));
  });
  if (!all) return std::nullopt;
  std::ranges::sort(groups, {}, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
  return groups;
}

void GroupCollector::keep_in_flight() {
  coordinator_.await_in_flight([this](const ScoredGroup& group) { keep(group); });
}

void GroupCollector::keep(const ScoredGroup& group) {
  journal_.append(group);
  stop_.group_is_kept();
}

}  // namespace lie
