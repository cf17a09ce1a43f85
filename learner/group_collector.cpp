#include "learner/group_collector.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "common/log.h"

namespace lie {

void GroupCollector::order(std::deque<Ticket> tickets) {
  if (tickets.empty()) return;
  const StepPart step_part = part_of(tickets.front());
  Part& part = parts_[step_part];
  std::tie(part.done.step, part.done.purpose) = step_part;
  part.done.all_groups += std::ssize(tickets);
  std::ranges::move(journal_.take_known(step_part.first, tickets), std::back_inserter(part.back));
  part.done.groups = std::ssize(part.back);
  coordinator_.add(std::move(tickets));
}

std::optional<std::vector<ScoredGroup>> GroupCollector::collect(
    StepPart part, std::optional<Assignment::Kind> when_out) {
  awaited_ = part;
  watcher_(parts_[part].done);
  if (!coordinator_.collect(part, when_out, take())) return std::nullopt;
  awaited_.reset();
  auto groups = std::move(parts_.extract(part).mapped().back);
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

void GroupCollector::keep_in_flight(bool some_waits_for_weights) {
  coordinator_.hold();
  if (!some_waits_for_weights) coordinator_.await_in_flight(take());
}

void GroupCollector::keep_rest() {
  const std::int64_t left = coordinator_.drain(take());
  if (left == 0) return;
  Log("learner", 0)
      .info("{} groups wait for weights of steps to come: the next start generates them again",
            left);
}

TakeGroup GroupCollector::take() {
  return [this](ScoredGroup group) {
    journal_.append(group);
    stop_.group_is_kept();
    const StepPart step_part = part_of(group.rollout.ticket);
    Part& part = parts_[step_part];
    ++part.done.groups;
    for (const Response& response : group.rollout.responses) {
      part.done.tokens += std::ssize(response.ids);
    }
    part.back.push_back(std::move(group));
    if (step_part == awaited_) watcher_(part.done);
  };
}

}  // namespace lie
