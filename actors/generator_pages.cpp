// Decides which responses have pages of the KV cache: the oldest, as many as are expected to fit.
#include <algorithm>
#include <ranges>
#include <utility>

#include "actors/generator.h"

namespace lie {

void Generator::preempt_all() {
  receive_tokens(pending_);
  const CacheUse so_far = use_;  // these preemptions are not for lack of pages
  while (!running_.empty()) preempt_last();
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0) drop_prompt(group);
  }
  use_ = so_far;
}

/// Returns the response tokens to reserve pages for: half the mean length so far, which a response
/// holds on average. In simulations of long-tailed lengths, reserving the whole mean allowed a
/// fifth fewer responses in flight, and reserving nothing caused 50% more re-prefill.
std::int64_t Generator::expected_tokens(const Ticket& ticket) const {
  if (!options_.preemption) return sampling(ticket).max_response_tokens;
  return finished_responses_ > 0 ? finished_tokens_ / (2 * finished_responses_) : 0;
}

/// Returns the pages that a response needs besides the `held` ones to hold expected_tokens(), and
/// at least one page of tokens more than it has.
std::int64_t Generator::pages_still_needed(const Group& group, std::int32_t position,
                                           std::int64_t held) const {
  const Ticket& ticket = group.rollout.ticket;
  const std::int64_t tokens_so_far =
      std::ssize(group.rollout.responses[static_cast<std::size_t>(position)].ids);
  const std::int64_t tokens =
      std::min(std::max(expected_tokens(ticket), tokens_so_far + KvCache::kPageTokens),
               sampling(ticket).max_response_tokens);
  return KvCache::pages_for(std::ssize(group.rollout.prompt_ids) + tokens) - held;
}

/// The sample shares the full pages of the prompt.
std::int64_t Generator::pages_for_next_sample(const Group& group) const {
  return pages_still_needed(group, group.waiting.back(),
                            std::ssize(group.rollout.prompt_ids) / KvCache::kPageTokens);
}

/// Returns the free pages that no response in flight and no prompt in prefill is expected to take.
std::int64_t Generator::spare_pages() const {
  std::int64_t spare = cache_.free_pages();
  for (const Running& running : running_) {
    const std::int64_t held = KvCache::pages_for(cache_.length(running.sequence));
    spare -= pages_still_needed(*running.group, running.position, held);
  }
  for (const Group& group : groups_) {
    if (group.prompt_sequence < 0) continue;
    spare -= KvCache::pages_for(std::ssize(group.rollout.prompt_ids)) -
             KvCache::pages_for(cache_.length(group.prompt_sequence));
  }
  return spare;
}

bool Generator::is_prefilled(const Group& group) const {
  return group.prompt_sequence >= 0 &&
         cache_.length(group.prompt_sequence) == std::ssize(group.rollout.prompt_ids);
}

/// Opens prompts for prefill while there are free slots, and pages for the prompt and one response
/// to it, so that the oldest response can always advance.
void Generator::open_prompts() {
  std::int64_t slots = options_.slots - std::ssize(running_);
  std::int64_t spare = spare_pages();
  for (Group& group : groups_) {
    if (group.waiting.empty()) continue;
    if (slots <= 0) return;
    slots -= std::ssize(group.waiting);
    spare -= pages_for_next_sample(group);
    if (group.prompt_sequence >= 0) continue;
    spare -= KvCache::pages_for(std::ssize(group.rollout.prompt_ids));
    if (spare < 0) return;
    group.prompt_sequence = cache_.open();
  }
}

/// Fills the slots and pages that were free before this pass's tokens. Waiting for the tokens would
/// cost a round trip to the device. With nothing in flight the oldest sample begins, even if it is
/// not expected to fit.
void Generator::begin_samples() {
  std::int64_t spare = spare_pages();
  for (Group& group : groups_) {
    while (!group.waiting.empty() && is_prefilled(group) && std::ssize(running_) < options_.slots) {
      spare -= pages_for_next_sample(group);
      if (spare < 0 && !running_.empty()) return;
      begin_sample(group);
    }
    if (!group.waiting.empty()) return;
  }
}

/// The last waiting sample takes the prompt's own sequence, the others a fork of it.
void Generator::begin_sample(Group& group) {
  const std::int32_t position = group.waiting.back();
  group.waiting.pop_back();
  --samples_to_begin_;
  const bool is_last = group.waiting.empty();
  Running& running = running_.emplace_back(Running{
      {&group, position},
      is_last ? std::exchange(group.prompt_sequence, -1) : cache_.fork(group.prompt_sequence)});
  if (running.response().ids.empty()) draw_next(running, group.first_logits);
  if (is_last) release_first_logits(group);
}

/// Drops the youngest prompt that is prefilled ahead, or else preempts the youngest response, but
/// none of the `keep` oldest. Returns false if there is none.
bool Generator::preempt_youngest(std::size_t keep) {
  for (Group& group : groups_ | std::views::reverse) {
    if (!running_.empty() && running_.back().group == &group) break;
    if (group.prompt_sequence < 0) continue;
    drop_prompt(group);
    return true;
  }
  if (running_.size() <= keep) return false;
  preempt_last();
  return true;
}

/// Keeps the prompt in the cache, so that the sample can begin again.
void Generator::preempt_last() {
  const Running running = running_.back();
  running_.pop_back();
  Group& group = *running.group;
  const std::int64_t prompt_tokens = std::ssize(group.rollout.prompt_ids);
  ++use_.preempted;
  use_.tokens_reprefilled += cache_.length(running.sequence) - prompt_tokens;
  group.waiting.push_back(running.position);
  ++samples_to_begin_;
  if (group.prompt_sequence >= 0) return cache_.close(running.sequence);
  cache_.truncate(running.sequence, prompt_tokens);
  group.prompt_sequence = running.sequence;
}

void Generator::drop_prompt(Group& group) {
  use_.tokens_reprefilled += cache_.length(group.prompt_sequence);
  cache_.close(std::exchange(group.prompt_sequence, -1));
  release_first_logits(group);
}

void Generator::release_first_logits(Group& group) {
  if (group.first_logits >= 0) first_logits_.release(std::exchange(group.first_logits, -1));
}

void Generator::record_use() {
  use_.peak_pages = std::max(use_.peak_pages, use_.pages - cache_.free_pages());
  use_.peak_responses = std::max(use_.peak_responses, std::ssize(running_));
}

}  // namespace lie
