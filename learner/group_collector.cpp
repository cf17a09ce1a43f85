#include "learner/group_collector.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lie {

void GroupCollector::order(std::deque<Ticket> tickets) {
  if (tickets.empty()) return;
  const StepPart part = part_of(tickets.front());
  std::ranges::move(journal_.take_known(part.first, tickets), std::back_inserter(back_[part]));
  coordinator_.add(std::move(tickets));
}

std::optional<std::vector<ScoredGroup>> GroupCollector::collect(
    StepPart part, std::optional<Assignment::Kind> when_out) {
  if (!coordinator_.collect(part, when_out, take())) return std::nullopt;
  auto groups = std::exchange(back_[part], {});
  back_.erase(part);
  std::ranges::sort(groups, {}, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
  return groups;
}

std::optional<std::vector<ScoredGroup>> GroupCollector::collect(
    std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out) {
  if (tickets.empty()) return std::vector<ScoredGroup>();
  const StepPart part = part_of(tickets.front());
  order(std::move(tickets));
  return collect(part, when_out);
}

void GroupCollector::announce_weights() {
  coordinator_.announce(Assignment::Kind::kWeights, take());
}

void GroupCollector::keep_in_flight() { coordinator_.await_in_flight(take()); }

TakeGroup GroupCollector::take() {
  return [this](ScoredGroup group) {
    journal_.append(group);
    stop_.group_is_kept();
    back_[part_of(group.rollout.ticket)].push_back(std::move(group));
  };
}

}  // namespace lie
