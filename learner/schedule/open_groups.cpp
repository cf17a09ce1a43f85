#include "learner/schedule/open_groups.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/error.h"

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

std::int64_t due_step(const OpenGroup& group, std::int64_t max_staleness) {
  return std::min(group.policy_version + 1, group.drawn.step) + max_staleness;
}

std::vector<DrawnGroup> first_groups(std::vector<OpenGroup> open, std::int64_t step,
                                     std::int64_t count, std::int64_t max_staleness) {
  const auto size = static_cast<std::size_t>(count);
  std::ranges::sort(open, {}, [&](const OpenGroup& group) {
    return std::tuple(!group.is_finished, due_step(group, max_staleness), group.drawn);
  });
  if (open.size() < size || !open[size - 1].is_finished) return {};
  const auto left = std::span(open).subspan(size);
  for (std::int64_t later = 0; later < max_staleness; ++later) {
    const auto due = std::ranges::count_if(left, [&](const OpenGroup& group) {
      return due_step(group, max_staleness) <= step + later;
    });
    if (due > later * count) return {};
  }
  std::vector<DrawnGroup> taken;
  for (const OpenGroup& group : std::span(open).first(size)) taken.push_back(group.drawn);
  return taken;
}

std::vector<DrawnGroup> once_finished(std::vector<DrawnGroup> groups,
                                      std::span<const OpenGroup> open) {
  std::map<DrawnGroup, bool> is_finished;
  for (const OpenGroup& group : open) is_finished[group.drawn] = group.is_finished;
  bool all_finished = true;
  for (const DrawnGroup& group : groups) {
    const auto found = is_finished.find(group);
    if (found == is_finished.end()) {
      fail(
          "the schedule has a step take group {} of step {}, which this run has not drawn or has "
          "taken before: follow it with the config, seed and data of the run that wrote it",
          group.group, group.step);
    }
    all_finished = all_finished && found->second;
  }
  return all_finished ? std::move(groups) : std::vector<DrawnGroup>();
}

bool has_signal(const ScoredGroup& group) {
  const auto correct = std::ranges::count(group.scores, VerdictCode::kEqual, &Score::verdict);
  return correct > 0 && correct < std::ssize(group.scores);
}

std::int64_t prompts_of_next_round(std::span<const ScoredGroup> groups, std::int64_t wanted) {
  const std::int64_t found = std::ranges::count_if(groups, has_signal);
  if (found >= wanted) return 0;
  const std::int64_t needed =
      divided_up((wanted - found) * std::ssize(groups), std::max<std::int64_t>(found, 1));
  return std::min(needed, wanted);
}

SelectedGroups select_groups(std::vector<ScoredGroup> groups, std::int64_t wanted) {
  SelectedGroups selected;
  for (ScoredGroup& group : groups) {
    const bool is_wanted = std::ssize(selected.trained) < wanted && has_signal(group);
    (is_wanted ? selected.trained : selected.dropped).push_back(std::move(group));
  }
  return selected;
}

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

namespace {

/// Calls visit(staleness, tokens) for each run of tokens that the same weights have sampled.
void for_each_run(std::int64_t step, std::span<const ScoredGroup> groups, const auto& visit) {
  for (const ScoredGroup& group : groups) {
    for (const Response& response : group.rollout.responses) {
      for (const VersionRun& run : versions_of(group.rollout.ticket, response)) {
        visit(step - 1 - run.policy_version, run.tokens);
      }
    }
  }
}

}  // namespace

Staleness staleness_of(std::int64_t step, std::span<const ScoredGroup> groups) {
  std::int64_t sum = 0, all = 0;
  Staleness result;
  for_each_run(step, groups, [&](std::int64_t staleness, std::int64_t tokens) {
    sum += staleness * tokens, all += tokens;
    result.max = std::max(result.max, staleness);
  });
  result.mean = all > 0 ? static_cast<double>(sum) / static_cast<double>(all)
                        : std::numeric_limits<double>::quiet_NaN();
  return result;
}

void check_staleness(std::int64_t step, std::span<const ScoredGroup> groups,
                     std::int64_t max_staleness) {
  std::int64_t outside = 0, all = 0;
  for_each_run(step, groups, [&](std::int64_t staleness, std::int64_t tokens) {
    all += tokens;
    if (staleness < 0 || staleness > max_staleness) outside += tokens;
  });
  if (outside == 0) return;
  fail(
      "step {}: {} of its {} tokens were sampled with weights that it may not train on "
      "(rollout.max_staleness {}): this is a defect of the coordinator, please report it",
      step, outside, all, max_staleness);
}

}  // namespace lie
