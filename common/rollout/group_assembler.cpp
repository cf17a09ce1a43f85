#include "common/rollout/group_assembler.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

[[noreturn]] void refuse(const Ticket& part, std::string_view why) {
  const auto [first, count] = part.asked();
  fail("step {}, group {}, samples {} to {} of {}: {}: this is a defect, please report it",
       part.step, part.group, first, first + count - 1, part.samples, why);
}

void check_range(const RolloutGroup& part) {
  const SampleRange range = part.ticket.part;
  if (!range.is_within(part.ticket.samples)) refuse(part.ticket, "the group has no such part");
  if (std::ssize(part.responses) != range.count) {
    refuse(part.ticket, "the part has another number of responses");
  }
}

void check_same_group(const RolloutGroup& part, const RolloutGroup& group) {
  const bool same = part.ticket.samples == group.ticket.samples &&
                    part.ticket.policy_version == group.ticket.policy_version &&
                    part.ticket.prompt.problem == group.ticket.prompt.problem &&
                    part.prompt_ids == group.prompt_ids;
  if (!same) refuse(part.ticket, "the part was generated with another prompt or policy");
}

/// Returns the group of `part` with empty slots for all its responses.
RolloutGroup empty_group(const RolloutGroup& part) {
  RolloutGroup group{.ticket = part.ticket,
                     .prompt_ids = part.prompt_ids,
                     .responses = {},
                     .prompt_tokens_dropped = part.prompt_tokens_dropped};
  group.ticket.part = {};
  group.responses.resize(static_cast<std::size_t>(part.ticket.samples));
  return group;
}

/// Moves the responses of `part` into their slots. A filled slot has at least one token.
void put(RolloutGroup part, RolloutGroup& group) {
  auto place = group.responses.begin() + part.ticket.part.first;
  for (Response& response : part.responses) {
    if (response.ids.empty()) refuse(part.ticket, "a response has no token");
    if (!place->ids.empty()) refuse(part.ticket, "the part arrived twice");
    *place++ = std::move(response);
  }
  group.actor_clocks.insert(group.actor_clocks.end(), part.actor_clocks.begin(),
                            part.actor_clocks.end());
}

}  // namespace

std::optional<RolloutGroup> GroupAssembler::receive() {
  while (std::optional<RolloutGroup> part = parts_.receive()) {
    if (auto group = merged(std::move(*part))) return group;
  }
  if (!unfinished_.empty()) {
    refuse(unfinished_.begin()->second.group.ticket, "a part of the group never arrived");
  }
  return std::nullopt;
}

std::optional<RolloutGroup> GroupAssembler::try_receive() {
  while (std::optional<RolloutGroup> part = parts_.try_receive()) {
    if (auto group = merged(std::move(*part))) return group;
  }
  return std::nullopt;
}

std::optional<RolloutGroup> GroupAssembler::merged(RolloutGroup part) {
  if (part.ticket.part.count == 0) return part;
  check_range(part);
  const Key key{part.ticket.purpose, part.ticket.step, part.ticket.group};
  const auto [entry, is_first] = unfinished_.try_emplace(key);
  auto& [group, missing] = entry->second;
  if (is_first) {
    group = empty_group(part);
    missing = part.ticket.samples;
  }
  check_same_group(part, group);
  missing -= part.ticket.part.count;
  put(std::move(part), group);
  if (missing > 0) return std::nullopt;
  return std::move(unfinished_.extract(entry).mapped().group);
}

}  // namespace lie
