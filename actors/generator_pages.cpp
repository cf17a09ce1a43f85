// Which responses have pages of the KV cache: the oldest, as many as are expected to fit.
#include <algorithm>
#include <ranges>
#include <utility>

#include "actors/generator.h"
#include "common/base/error.h"

namespace lie {

std::int64_t kv_cache_pages(const ModelConfig& model, const RolloutOptions& options, DType dtype) {
  check_fits_model(options, model);
  const std::int64_t page = KvCache::page_elements(model) * dtype_bytes(dtype);
  const std::int64_t prompt = KvCache::pages_for(options.max_prompt_tokens);
  const std::int64_t sample = KvCache::pages_for(options.longest_response()) + 1;
  const std::int64_t allowed = options.cache_mebibytes * (1 << 20) / page;
  if (allowed < prompt + sample) {
    fail(
        "cache_mebibytes is {}, but one response of {} tokens to a prompt of {} needs {} MiB of KV "
        "cache: raise it, or lower max_prompt_tokens or max_response_tokens",
        options.cache_mebibytes, options.longest_response(), options.max_prompt_tokens,
        (prompt + sample) * page / (1 << 20) + 1);
  }
  return std::min(allowed, options.slots * (prompt + sample));
}

void Generator::preempt_all() {
  take_tokens(drawn_);
  const CacheUse so_far = use_;  // which is of the cache's size, and this is not
  while (!running_.empty()) preempt_last();
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0) forget_prompt(group);
  }
  use_ = so_far;
}

// Half of what responses came to so far: what one holds in the middle of its life. With the whole,
// a fifth fewer are in flight, by simulation, of lengths with a long tail; with none, half as much
// again was read again.
std::int64_t Generator::tokens_to_hold(const Ticket& ticket) const {
  if (!options_.preemption) return sampling(ticket).max_response_tokens;
  return ended_ > 0 ? ended_tokens_ / (2 * ended_) : 0;
}

// Besides the `held` ones, for tokens_to_hold(), but for at least a page's tokens more.
std::int64_t Generator::pages_to_come(const Group& group, std::int32_t sample,
                                      std::int64_t held) const {
  const Ticket& ticket = group.rollout.ticket;
  const std::int64_t come =
      std::ssize(group.rollout.responses[static_cast<std::size_t>(sample)].ids);
  const std::int64_t tokens =
      std::min(std::max(tokens_to_hold(ticket), come + KvCache::kPageTokens),
               sampling(ticket).max_response_tokens);
  return KvCache::pages_for(std::ssize(group.rollout.prompt_ids) + tokens) - held;
}

// Of the sample that begins next, which shares the prompt's full pages.
std::int64_t Generator::pages_of_next(const Group& group) const {
  return pages_to_come(group, group.waiting.back(),
                       std::ssize(group.rollout.prompt_ids) / KvCache::kPageTokens);
}

// Free ones that no response in flight and no prompt on its way is expected to take.
std::int64_t Generator::spare_pages() const {
  std::int64_t spare = cache_.free_pages();
  for (const Running& running : running_) {
    const std::int64_t held = KvCache::pages_for(cache_.length(running.sequence));
    spare -= pages_to_come(*running.group, running.sample, held);
  }
  for (const Group& group : groups_) {
    if (group.prompt_sequence < 0) continue;
    spare -= KvCache::pages_for(std::ssize(group.rollout.prompt_ids)) -
             KvCache::pages_for(cache_.length(group.prompt_sequence));
  }
  return spare;
}

bool Generator::is_read(const Group& group) const {
  return group.prompt_sequence >= 0 &&
         cache_.length(group.prompt_sequence) == std::ssize(group.rollout.prompt_ids);
}

// Prompts are read once there are slots to fill and pages for one response to each, so that the
// oldest can go on whatever the others do.
void Generator::open_prompts() {
  std::int64_t slots = options_.slots - std::ssize(running_);
  std::int64_t spare = spare_pages();
  for (Group& group : groups_) {
    if (group.waiting.empty()) continue;
    if (slots <= 0) return;
    slots -= std::ssize(group.waiting);
    spare -= pages_of_next(group);
    if (group.prompt_sequence >= 0) continue;
    spare -= KvCache::pages_for(std::ssize(group.rollout.prompt_ids));
    if (spare < 0) return;
    group.prompt_sequence = cache_.open();
  }
}

// Slots and pages freed by this pass's tokens are filled in the next one: waiting for them would
// cost a device a round trip. With nothing in flight the oldest begins, whatever is expected.
void Generator::begin_samples() {
  std::int64_t spare = spare_pages();
  for (Group& group : groups_) {
    while (!group.waiting.empty() && is_read(group) && std::ssize(running_) < options_.slots) {
      spare -= pages_of_next(group);
      if (spare < 0 && !running_.empty()) return;
      begin_sample(group);
    }
    if (!group.waiting.empty()) return;
  }
}

// The last that waits takes the prompt's own sequence.
void Generator::begin_sample(Group& group) {
  const std::int32_t sample = group.waiting.back();
  group.waiting.pop_back();
  --samples_to_begin_;
  const bool is_last = group.waiting.empty();
  Running& running = running_.emplace_back(Running{
      {&group, sample},
      is_last ? std::exchange(group.prompt_sequence, -1) : cache_.fork(group.prompt_sequence)});
  if (response_of(running).ids.empty()) draw_next(running, group.first_logits);
  if (is_last) release_first_logits(group);
}

// A prompt that is read ahead, or else a response, but for the `keep` oldest. False if there is
// none.
bool Generator::preempt_youngest(std::size_t keep) {
  for (Group& group : groups_ | std::views::reverse) {
    if (!running_.empty() && running_.back().group == &group) break;
    if (group.prompt_sequence < 0) continue;
    forget_prompt(group);
    return true;
  }
  if (running_.size() <= keep) return false;
  preempt_last();
  return true;
}

// The prompt stays in the cache until no other response to it is in flight.
void Generator::preempt_last() {
  const Running running = running_.back();
  running_.pop_back();
  Group& group = *running.group;
  const std::int64_t prompt_tokens = std::ssize(group.rollout.prompt_ids);
  ++use_.preempted;
  use_.tokens_reprefilled += cache_.length(running.sequence) - prompt_tokens;
  group.waiting.push_back(running.sample);
  ++samples_to_begin_;
  if (group.prompt_sequence >= 0) return cache_.close(running.sequence);
  cache_.cut(running.sequence, prompt_tokens);
  group.prompt_sequence = running.sequence;
}

void Generator::forget_prompt(Group& group) {
  use_.tokens_reprefilled += cache_.length(group.prompt_sequence);
  cache_.close(std::exchange(group.prompt_sequence, -1));
  release_first_logits(group);
}

void Generator::release_first_logits(Group& group) {
  if (group.first_logits >= 0) first_logits_.give_back(std::exchange(group.first_logits, -1));
}

void Generator::note_use() {
  use_.peak_pages = std::max(use_.peak_pages, use_.pages - cache_.free_pages());
  use_.peak_responses = std::max(use_.peak_responses, std::ssize(running_));
}

}  // namespace lie
