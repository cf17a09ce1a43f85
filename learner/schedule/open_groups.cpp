#include "learner/schedule/open_groups.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lie {
namespace {

std::int64_t oldest_version(const RolloutGroup& group) {
  std::int64_t oldest = group.ticket.policy_version;
  for (const Response& response : group.responses) {
    for (const VersionRun& run : response.versions) oldest = std::min(oldest, run.policy_version);
  }
  return oldest;
}

}  // namespace

void OpenGroups::order(StepPhase step_phase, std::vector<ScoredGroup> finished,
                       const std::deque<Ticket>& awaited) {
  Phase& phase = phases_[step_phase];
  phase.done.step = step_phase.step;
  phase.done.is_evaluation = step_phase.purpose == Purpose::kEvaluate;
  phase.done.all_groups += std::ssize(finished) + std::ssize(awaited);
  std::ranges::move(finished, std::back_inserter(phase.finished));
  phase.done.groups = std::ssize(phase.finished);
  for (const Ticket& ticket : awaited) phase.awaited.insert(ticket.group);
}

void OpenGroups::add(ScoredGroup group) {
  Phase& phase = phases_[phase_of(group.rollout.ticket)];
  ++phase.done.groups;
  for (const Response& response : group.rollout.responses) {
    phase.done.tokens += std::ssize(response.ids);
  }
  phase.awaited.erase(group.rollout.ticket.group);
  phase.finished.push_back(std::move(group));
}

GroupsProgress OpenGroups::training_progress() const {
  GroupsProgress all;
  for (const auto& [step_phase, phase] : phases_) {
    if (step_phase.purpose != Purpose::kTrain) continue;
    all.groups += std::ssize(phase.finished);
    all.tokens += phase.done.tokens;
  }
  return all;
}

std::vector<OpenGroup> OpenGroups::training_groups(
    const std::function<std::int64_t(StepPhase, std::int64_t group)>& version_of) const {
  std::vector<OpenGroup> open;
  for (const auto& [step_phase, phase] : phases_) {
    if (step_phase.purpose != Purpose::kTrain) continue;
    for (const ScoredGroup& group : phase.finished) {
      open.push_back({drawn_as(group.rollout.ticket), oldest_version(group.rollout), true});
    }
    for (const std::int64_t group : phase.awaited) {
      open.push_back({{step_phase.step, group}, version_of(step_phase, group), false});
    }
  }
  return open;
}

std::optional<ScoredGroup> OpenGroups::take_one(StepPhase phase) {
  std::vector<ScoredGroup>& finished = phases_[phase].finished;
  if (finished.empty()) return std::nullopt;
  ScoredGroup group = std::move(finished.front());
  finished.erase(finished.begin());
  return group;
}

std::vector<ScoredGroup> OpenGroups::take_all(StepPhase phase) {
  auto groups = std::move(phases_.extract(phase).mapped().finished);
  std::ranges::sort(groups, {}, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
  return groups;
}

std::vector<ScoredGroup> OpenGroups::take(std::span<const DrawnGroup> groups) {
  std::vector<ScoredGroup> taken;
  for (const DrawnGroup& group : groups) {
    const auto phase = phases_.find({group.step, Purpose::kTrain});
    std::vector<ScoredGroup>& finished = phase->second.finished;
    const auto found = std::ranges::find(
        finished, group, [](const ScoredGroup& g) { return drawn_as(g.rollout.ticket); });
    taken.push_back(std::move(*found));
    finished.erase(found);
    if (finished.empty() && phase->second.awaited.empty()) phases_.erase(phase);
  }
  return taken;
}

}  // namespace lie
