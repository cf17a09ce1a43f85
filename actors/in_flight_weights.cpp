// Responses that continue under newer weights (rollout.in_flight_weights), either whenever the
// weights change or as a plan of policy versions says. The first token of a response has the
// version of the weights that prefilled its prompt. Token t has the version of the weights that
// computed the keys and values of token t - 1, so with kept caches the token versions describe the
// whole cache.
#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/generator.h"
#include "common/base/error.h"

namespace lie {
namespace {

/// Returns the version that token `index` is planned for. The plan's last run extends to the end of
/// the response.
std::int64_t planned_version(const VersionRuns& plan, std::int64_t index) {
  for (const VersionRun& run : plan) {
    if (index < run.tokens) return run.policy_version;
    index -= run.tokens;
  }
  return plan.back().policy_version;
}

}  // namespace

bool Generator::may_change_weights() const {
  if (!weights_change_in_flight()) return idle();
  return !follows_plan_ || idle() || waits_for_weights();
}

bool Generator::waits_for_weights() const {
  return !idle() && std::ranges::none_of(running_, [&](const Running& r) { return is_due(r); }) &&
         std::ranges::all_of(groups_, [](const Group& group) {
           return group.waiting.empty() && group.finished < group.samples();
         });
}

void Generator::weights_changed(std::int64_t policy_version) {
  receive_tokens(pending_);
  version_ = policy_version;
  if (options_.in_flight_weights == InFlightWeights::kRecomputeCache) preempt_all();
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0 && !is_prefilled(group)) drop_prompt(group);
    plan_samples(group);
  }
}

/// Returns whether the current weights may draw the next token of the response.
bool Generator::is_due(const SampleId& sample) const {
  const std::vector<VersionRuns>& planned = sample.group->rollout.ticket.planned;
  if (planned.empty()) return true;
  const VersionRuns& plan = planned.at(static_cast<std::size_t>(sample.number()));
  return planned_version(plan, std::ssize(sample.response().ids)) <= version_;
}

/// Splits the waiting samples into those that the current weights may continue and those that wait
/// for newer ones.
void Generator::plan_samples(Group& group) {
  if (group.rollout.ticket.planned.empty()) return;
  follows_plan_ = true;
  samples_to_begin_ -= std::ssize(group.waiting);
  std::ranges::move(std::exchange(group.waiting, {}),
                    std::back_inserter(group.waiting_for_weights));
  std::erase_if(group.waiting_for_weights, [&](std::int32_t position) {
    if (!is_due({.group = &group, .position = position})) return false;
    group.waiting.push_back(position);
    return true;
  });
  samples_to_begin_ += std::ssize(group.waiting);
}

/// Records the policy version of a token that is about to be appended. The group has the version of
/// its first sample's first token. Throws Error if the plan says another version.
void Generator::record_version(const SampleId& sample) {
  Response& response = sample.response();
  Ticket& ticket = sample.group->rollout.ticket;
  const std::int64_t version = response.ids.empty() ? sample.group->version : version_;
  if (response.ids.empty() && sample.position == 0) ticket.policy_version = version;
  if (response.versions.empty() || response.versions.back().policy_version != version) {
    response.versions.push_back({version, 0});
  }
  ++response.versions.back().tokens;
  if (ticket.planned.empty()) return;
  const VersionRuns& plan = ticket.planned[static_cast<std::size_t>(sample.number())];
  if (planned_version(plan, std::ssize(response.ids)) == version) return;
  fail(
      "step {}, group {}, sample {}: token {} is sampled under the weights of step {}, which is "
      "against the schedule: use the config, seed and data of the run that wrote it",
      ticket.step, ticket.group, sample.number(), response.ids.size(), version);
}

/// Frees the slot and pages of a response that must wait for newer weights, if these will recompute
/// its cache anyway. Returns whether it did.
bool Generator::set_aside(const Running& running) {
  if (options_.in_flight_weights != InFlightWeights::kRecomputeCache || is_due(running)) {
    return false;
  }
  cache_.close(running.sequence);
  running.group->waiting_for_weights.push_back(running.position);
  return true;
}

/// Throws Error on a deadlock: responses that wait for newer weights keep slots and pages that
/// others need before the weights can change.
void Generator::check_progress() const {
  if (!follows_plan_ || may_change_weights()) return;
  fail(
      "{} responses in flight wait for newer weights by the schedule, and leave no slots or pages "
      "for others that must finish first: raise rollout.slots and rollout.cache_mebibytes, or use "
      "as many actors as the run that wrote the schedule",
      running_.size());
}

}  // namespace lie
