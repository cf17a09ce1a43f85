// The generator's part in rollout.in_flight_weights: responses that go on under newer weights, when
// the weights change or where a plan says so. A response's first token is of the weights that read
// its prompt, so with kept caches the versions of its tokens say all: token t was drawn by the
// weights that computed keys and values of token t - 1.
#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/generator.h"
#include "common/base/error.h"

namespace lie {
namespace {

/// That token `index` is planned for; the last run goes on to the response's end.
std::int64_t planned_version(const VersionRuns& plan, std::int64_t index) {
  for (const VersionRun& run : plan) {
    if (index < run.tokens) return run.policy_version;
    index -= run.tokens;
  }
  return plan.back().policy_version;
}

}  // namespace

bool Generator::may_take_weights() const {
  if (!weights_change_in_flight()) return idle();
  return !follows_ || idle() || awaits_weights();
}

bool Generator::awaits_weights() const {
  return !idle() && std::ranges::none_of(running_, [&](const Running& r) { return is_due(r); }) &&
         std::ranges::all_of(groups_, [](const Group& group) {
           return group.waiting.empty() && group.finished < samples_of(group);
         });
}

void Generator::take_weights(std::int64_t policy_version) {
  take_tokens(drawn_);
  version_ = policy_version;
  if (options_.in_flight_weights == InFlightWeights::kRecomputeCache) preempt_all();
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0 && !is_read(group)) forget_prompt(group);
    plan_samples(group);
  }
}

/// Whether its next token may be drawn under these weights.
bool Generator::is_due(const Member& member) const {
  const std::vector<VersionRuns>& planned = member.group->rollout.ticket.planned;
  if (planned.empty()) return true;
  const VersionRuns& plan = planned.at(static_cast<std::size_t>(number_of(member)));
  return planned_version(plan, std::ssize(response_of(member).ids)) <= version_;
}

/// Those of its samples wait that these weights may go on with.
void Generator::plan_samples(Group& group) {
  if (group.rollout.ticket.planned.empty()) return;
  follows_ = true;
  samples_to_begin_ -= std::ssize(group.waiting);
  std::ranges::move(std::exchange(group.waiting, {}), std::back_inserter(group.later));
  std::erase_if(group.later, [&](std::int32_t sample) {
    if (!is_due({.group = &group, .sample = sample})) return false;
    group.waiting.push_back(sample);
    return true;
  });
  samples_to_begin_ += std::ssize(group.waiting);
}

/// Before a token is appended. The group is of the weights of its first sample's first token.
void Generator::note_version(const Member& member) {
  Response& response = response_of(member);
  Ticket& ticket = member.group->rollout.ticket;
  const std::int64_t version = response.ids.empty() ? member.group->version : version_;
  if (response.ids.empty() && member.sample == 0) ticket.policy_version = version;
  if (response.versions.empty() || response.versions.back().policy_version != version) {
    response.versions.push_back({version, 0});
  }
  ++response.versions.back().tokens;
  if (ticket.planned.empty()) return;
  const VersionRuns& plan = ticket.planned[static_cast<std::size_t>(number_of(member))];
  if (planned_version(plan, std::ssize(response.ids)) == version) return;
  fail(
      "step {}, group {}, sample {}: token {} is sampled under the weights of step {}, against the "
      "schedule: follow it with the config, seed and data of the run that wrote it",
      ticket.step, ticket.group, number_of(member), response.ids.size(), version);
}

/// One that newer weights are to go on with gives up its place, unless they need its cache.
bool Generator::puts_by(const Running& running) {
  if (options_.in_flight_weights != InFlightWeights::kRecomputeCache || is_due(running)) {
    return false;
  }
  cache_.close(running.sequence);
  running.group->later.push_back(running.sample);
  return true;
}

/// Responses that wait for weights with their cache keep slots and pages, which others may need
/// before the weights can change.
void Generator::check_progress() const {
  if (!follows_ || may_take_weights()) return;
  fail(
      "the schedule has {} responses in flight wait for newer weights, and others, which must go "
      "on first, find no room beside them: raise rollout.slots and rollout.cache_mebibytes, or "
      "take as many actors as the run that wrote it",
      running_.size());
}

}  // namespace lie
