#include "learner/schedule/group_collector.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "common/process/log.h"

namespace lie {

void GroupCollector::order(std::deque<Ticket> tickets) {
  if (tickets.empty()) return;
  const StepPart step_part = part_of(tickets.front());
  Part& part = parts_[step_part];
  std::tie(part.done.step, part.done.purpose) = step_part;
  part.done.all_groups += std::ssize(tickets);
  std::ranges::move(journal_.take_known(step_part.first, tickets), std::back_inserter(part.back));
  part.done.groups = std::ssize(part.back);
  for (const Ticket& ticket : tickets) part.awaited.insert(ticket.group);
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

std::optional<std::vector<ScoredGroup>> GroupCollector::collect_chosen(std::int64_t step,
                                                                       std::int64_t count,
                                                                       const ChooseGroups& choose) {
  std::vector<DrawnGroup> chosen;
  const std::int64_t tokens_before = finished().tokens;
  std::int64_t seen = -1;  // finished groups, when `choose` was asked last
  const auto is_complete = [&] {
    const GroupsDone done = finished();
    if (std::exchange(seen, done.groups) == done.groups) return false;
    watcher_({.step = step,
              .groups = std::min(done.groups, count),
              .all_groups = count,
              .tokens = done.tokens - tokens_before});
    chosen = choose(open_groups(step - 1));
    return !chosen.empty();
  };
  if (!coordinator_.collect_until(is_complete, take())) return std::nullopt;
  std::ranges::sort(chosen);
  return take_out(chosen);
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
    part.awaited.erase(group.rollout.ticket.group);
    part.back.push_back(std::move(group));
    if (step_part == awaited_) watcher_(part.done);
  };
}

/// Groups of all steps that no step has taken.
GroupsDone GroupCollector::finished() const {
  GroupsDone all;
  for (const auto& [step_part, part] : parts_) {
    if (step_part.second != Purpose::kTrain) continue;
    all.groups += std::ssize(part.back);
    all.tokens += part.done.tokens;
  }
  return all;
}

/// Those that have not begun will be of weights of `policy_version` or later.
std::vector<OpenGroup> GroupCollector::open_groups(std::int64_t policy_version) const {
  std::vector<OpenGroup> open;
  for (const auto& [step_part, part] : parts_) {
    if (step_part.second != Purpose::kTrain) continue;
    for (const ScoredGroup& group : part.back) {
      open.push_back({drawn_as(group.rollout.ticket), oldest_version(group.rollout), true});
    }
    for (const std::int64_t group : part.awaited) {
      const auto version = coordinator_.version_in_flight(step_part, group);
      open.push_back({{step_part.first, group}, version.value_or(policy_version), false});
    }
  }
  return open;
}

std::vector<ScoredGroup> GroupCollector::take_out(std::span<const DrawnGroup> groups) {
  std::vector<ScoredGroup> taken;
  for (const DrawnGroup& group : groups) {
    const auto part = parts_.find({group.step, Purpose::kTrain});
    std::vector<ScoredGroup>& back = part->second.back;
    const auto found = std::ranges::find(
        back, group, [](const ScoredGroup& g) { return drawn_as(g.rollout.ticket); });
    taken.push_back(std::move(*found));
    back.erase(found);
    if (back.empty() && part->second.awaited.empty()) parts_.erase(part);
  }
  return taken;
}

}  // namespace lie
