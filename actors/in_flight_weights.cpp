// The generator's part in rollout.in_flight_weights: responses that go on under newer weights, when
// the weights change or where a plan says so. A response's first token is of the weights that read
// its prompt, so with kept caches the versions of its tokens say all: token t was drawn by the
// weights that computed the KV cache of token t - 1.
#include <algorithm>
#include <utility>

#include "actors/generator.h"
#include "common/error.h"

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

/// Whether token `index` of a sample may be drawn under weights of `version`.
bool is_due(const Ticket& ticket, std::int32_t sample, std::size_t index, std::int64_t version) {
  if (ticket.planned.empty()) return true;
  const VersionRuns& plan = ticket.planned.at(static_cast<std::size_t>(sample));
  return planned_version(plan, static_cast<std::int64_t>(index)) <= version;
}

}  // namespace

bool Generator::may_take_weights() const {
  if (!options_.weights_change_in_flight()) return idle();
  return !follows_ || idle() || awaits_weights();
}

bool Generator::awaits_weights() const {
  const auto is_paused = [&](const Group& group) {
    return !is_being_read(group) && (group.begun == samples_of(group) || !may_begin_sample(group));
  };
  return !idle() && running_.empty() && waiting_.empty() && std::ranges::all_of(open_, is_paused) &&
         std::ranges::none_of(paused_, [&](const Running& r) { return !is_planned_for_later(r); });
}

void Generator::take_weights(std::int64_t policy_version, const std::function<void()>& attend) {
  version_ = policy_version;
  for (Group& group : open_) {
    if (is_being_read(group)) {
      read_again(group);
    } else if (options_.in_flight_weights == InFlightWeights::kRecomputeCache) {
      recompute(group, attend);
    }
  }
}

bool Generator::may_begin_sample(const Group& group) const {
  const Ticket& ticket = group.rollout.ticket;
  return is_due(ticket, ticket.asked().first + group.begun, 0, version_);
}

bool Generator::is_planned_for_later(const Running& running) const {
  return !is_due(running.group->rollout.ticket, number_of(running), response_of(running).ids.size(),
                 version_);
}

/// Before a token is appended. The group is of the weights of its first sample's first token.
void Generator::note_version(const Running& running) {
  Response& response = response_of(running);
  Ticket& ticket = running.group->rollout.ticket;
  const std::int64_t version = response.ids.empty() ? running.group->version : version_;
  if (response.ids.empty() && running.sample == 0) ticket.policy_version = version;
  if (response.versions.empty() || response.versions.back().policy_version != version) {
    response.versions.push_back({version, 0});
  }
  ++response.versions.back().tokens;
  if (ticket.planned.empty()) return;
  const VersionRuns& plan = ticket.planned[static_cast<std::size_t>(number_of(running))];
  if (planned_version(plan, std::ssize(response.ids)) == version) return;
  fail(
      "step {}, group {}, sample {}: token {} is sampled under the weights of step {}, against the "
      "schedule: follow it with the config, seed and data of the run that wrote it",
      ticket.step, ticket.group, number_of(running), response.ids.size(), version);
}

void Generator::go_on_with_paused() {
  std::erase_if(paused_, [&](const Running& running) {
    if (std::ssize(running_) == options_.slots || is_planned_for_later(running)) return false;
    running_.push_back(running);
    return true;
  });
}

/// Paused responses keep their pages, which others may need before the weights can change.
void Generator::check_progress() const {
  if (!follows_ || may_take_weights()) return;
  fail(
      "the schedule has {} responses wait for newer weights, and the KV cache of {} pages has no "
      "room for others to go on before: raise rollout.slots and rollout.cache_mebibytes, or take "
      "as many actors as the run that wrote it",
      paused_.size(), pages_);
}

void Generator::read_again(Group& group) {
  cache_.close(group.prompt_sequence);
  group.prompt_sequence = cache_.open();
  group.prompt_read = 0;
}

/// Prompt and responses of a group anew, in the pages that they had.
void Generator::recompute(Group& group, const std::function<void()>& attend) {
  std::vector<Running*> responses;
  for (auto* all : {&running_, &paused_}) {
    for (Running& running : *all) {
      if (running.group == &group) responses.push_back(&running);
    }
  }
  const bool has_more = group.begun < samples_of(group);
  for (const Running* running : responses) cache_.close(running->sequence);
  if (has_more) cache_.close(group.prompt_sequence);
  group.prompt_sequence = cache_.open();
  std::vector<DecodeRow> rows;
  for (const std::int32_t id : group.rollout.prompt_ids) {
    rows.push_back({.token = id, .sequence = group.prompt_sequence});
  }
  rows.back().wants_logits = has_more;
  const Tensor logits = feed(rows, attend);
  rows.clear();
  for (Running* running : responses) {
    running->sequence = cache_.fork(group.prompt_sequence);
    const std::vector<std::int32_t>& ids = response_of(*running).ids;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      rows.push_back({.token = ids[i], .sequence = running->sequence});
    }
  }
  if (has_more) {
    first_logits_.give_back(std::exchange(group.first_logits, first_logits_.keep(logits)));
    group.version = version_;
  } else {
    cache_.close(group.prompt_sequence);
  }
  feed(rows, attend);
}

/// In passes as long as those that read prompts; the logits of the last.
Tensor Generator::feed(std::span<const DecodeRow> rows, const std::function<void()>& attend) {
  Tensor logits;
  while (!rows.empty()) {
    const std::size_t pass = std::min(rows.size(), static_cast<std::size_t>(options_.prefill_tokens));
    logits = policy_.decode(rows.first(pass), cache_);
    rows = rows.subspan(pass);
    if (attend) attend();
  }
  return logits;
}

}  // namespace lie
