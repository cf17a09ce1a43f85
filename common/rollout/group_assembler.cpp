#include "common/rollout/group_assembler.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

[[noreturn]] void refuse(const Ticket& fragment, std::string_view why) {
  const auto [first, count] = fragment.asked();
  fail("step {}, group {}, samples {} to {} of {}: {}: this is a defect, please report it",
       fragment.step, fragment.group, first, first + count - 1, fragment.samples, why);
}

void check_range(const RolloutGroup& fragment) {
  const SampleRange range = fragment.ticket.fragment;
  if (!range.is_within(fragment.ticket.samples))
    refuse(fragment.ticket, "the group has no such fragment");
  if (std::ssize(fragment.responses) != range.count) {
    refuse(fragment.ticket, "the fragment has another number of responses");
  }
}

void check_same_group(const RolloutGroup& fragment, const RolloutGroup& group) {
  const bool same = fragment.ticket.samples == group.ticket.samples &&
                    fragment.ticket.policy_version == group.ticket.policy_version &&
                    fragment.ticket.prompt.problem == group.ticket.prompt.problem &&
                    fragment.prompt_ids == group.prompt_ids;
  if (!same) refuse(fragment.ticket, "the fragment was generated with another prompt or policy");
}

/// Returns the group of `fragment` with empty slots for all its responses.
RolloutGroup empty_group(const RolloutGroup& fragment) {
  RolloutGroup group{.ticket = fragment.ticket,
                     .prompt_ids = fragment.prompt_ids,
                     .responses = {},
                     .prompt_tokens_dropped = fragment.prompt_tokens_dropped};
  group.ticket.fragment = {};
  group.responses.resize(static_cast<std::size_t>(fragment.ticket.samples));
  return group;
}

/// Moves the responses of `fragment` into their slots. A filled slot has at least one token.
void put(RolloutGroup fragment, RolloutGroup& group) {
  auto place = group.responses.begin() + fragment.ticket.fragment.first;
  for (Response& response : fragment.responses) {
    if (response.ids.empty()) refuse(fragment.ticket, "a response has no token");
    if (!place->ids.empty()) refuse(fragment.ticket, "the fragment arrived twice");
    *place++ = std::move(response);
  }
  group.actor_clocks.insert(group.actor_clocks.end(), fragment.actor_clocks.begin(),
                            fragment.actor_clocks.end());
}

}  // namespace

std::optional<RolloutGroup> GroupAssembler::receive() {
  while (std::optional<RolloutGroup> fragment = fragments_.receive()) {
    if (auto group = merged(std::move(*fragment))) return group;
  }
  if (!unfinished_.empty()) {
    refuse(unfinished_.begin()->second.group.ticket, "a fragment of the group never arrived");
  }
  return std::nullopt;
}

std::optional<RolloutGroup> GroupAssembler::try_receive() {
  while (std::optional<RolloutGroup> fragment = fragments_.try_receive()) {
    if (auto group = merged(std::move(*fragment))) return group;
  }
  return std::nullopt;
}

std::optional<RolloutGroup> GroupAssembler::merged(RolloutGroup fragment) {
  if (fragment.ticket.fragment.count == 0) return fragment;
  check_range(fragment);
  const Key key{fragment.ticket.purpose, fragment.ticket.step, fragment.ticket.group};
  const auto [entry, is_first] = unfinished_.try_emplace(key);
  auto& [group, missing] = entry->second;
  if (is_first) {
    group = empty_group(fragment);
    missing = fragment.ticket.samples;
  }
  check_same_group(fragment, group);
  missing -= fragment.ticket.fragment.count;
  put(std::move(fragment), group);
  if (missing > 0) return std::nullopt;
  return std::move(unfinished_.extract(entry).mapped().group);
}

}  // namespace lie
