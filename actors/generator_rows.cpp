// The rows of a pass: the next token of every response in flight, and a chunk of prefill.
#include <algorithm>

#include "actors/generator.h"

namespace lie {

/// Returns whether the response has its longest length, counting a token that the host has not
/// received yet.
bool Generator::has_all_tokens(const SampleId& sample) const {
  return std::ssize(sample.response().ids) >=
         sampling(sample.group->rollout.ticket).max_response_tokens;
}

/// Returns the rows that the response needs: its last token, which gives the logits of the next
/// one, and before it at most `prefill_rows` tokens to re-prefill.
std::int64_t Generator::rows_wanted(const Running& running, std::int64_t prefill_rows) const {
  if (!is_due(running) || has_all_tokens(running)) return 0;
  return 1 + std::min(running.tokens() - cache_.length(running.sequence) - 1, prefill_rows);
}

/// Returns whether the next pass preempts no response.
bool Generator::next_pass_fits() const {
  std::int64_t prefill_rows = options_.prefill_tokens, pages = cache_.free_pages();
  for (const Running& running : running_) {
    const std::int64_t wanted = rows_wanted(running, prefill_rows);
    const std::int64_t length = cache_.length(running.sequence);
    prefill_rows -= std::max<std::int64_t>(wanted - 1, 0);
    pages -= KvCache::pages_for(length + wanted) - KvCache::pages_for(length);
  }
  return pages >= 0;
}

/// Goes through the responses from the oldest on, so that a preempted one has no rows yet.
void Generator::add_rows() {
  open_prompts();
  rows_.clear();
  draws_.clear();
  prefilled_.clear();
  new_pages_ = 0;
  prefill_rows_left_ = options_.prefill_tokens;
  for (std::size_t i = 0; i < running_.size(); ++i) add_response_rows(i);
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0) add_prompt_rows(group);
  }
}

void Generator::add_response_rows(std::size_t place) {
  Running& running = running_[place];
  const std::int64_t wanted = rows_wanted(running, prefill_rows_left_);
  if (wanted == 0) return;
  while (rows_that_fit(running.sequence, wanted) < wanted && preempt_youngest(place + 1)) {
  }
  const std::int64_t rows = std::max(rows_that_fit(running.sequence, wanted), min_rows());
  prefill_rows_left_ -= std::max<std::int64_t>(rows - 1, 0);
  const bool completes = cache_.length(running.sequence) + rows == running.tokens();
  append_rows(running.sequence, running.group->rollout.prompt_ids, running.response().ids, rows,
              running.place);
  if (completes) draw_next(running, std::ssize(draws_));
}

void Generator::add_prompt_rows(Group& group) {
  const std::vector<std::int32_t>& prompt = group.rollout.prompt_ids;
  const std::int64_t missing = std::ssize(prompt) - cache_.length(group.prompt_sequence);
  const std::int64_t wanted = std::min(missing, prefill_rows_left_);
  if (wanted == 0) return;
  const std::int64_t rows = std::max(rows_that_fit(group.prompt_sequence, wanted), min_rows());
  prefill_rows_left_ -= rows;
  if (rows == missing) prefilled_.push_back(&group);
  append_rows(group.prompt_sequence, prompt, {}, rows);
}

/// Returns how many of the `wanted` rows fit into the sequence's pages and the free ones.
std::int64_t Generator::rows_that_fit(std::int32_t sequence, std::int64_t wanted) const {
  const std::int64_t length = cache_.length(sequence);
  const std::int64_t in_own = KvCache::pages_for(length) * KvCache::kPageTokens - length;
  const std::int64_t in_free = (cache_.free_pages() - new_pages_) * KvCache::kPageTokens;
  return std::min(wanted, in_own + in_free);
}

/// Appends the next `rows` tokens of prompt and response that the sequence does not hold yet.
/// `place` is the index of the last token in the pass that drew it, if the host has not received
/// it. The first row of a pass belongs to the oldest response and always fits; the cache throws
/// otherwise.
void Generator::append_rows(std::int32_t sequence, std::span<const std::int32_t> prompt,
                            std::span<const std::int32_t> response, std::int64_t rows,
                            std::int32_t place) {
  const auto first = static_cast<std::size_t>(cache_.length(sequence));
  const std::size_t end = first + static_cast<std::size_t>(rows);
  const std::size_t all = prompt.size() + response.size();
  for (std::size_t i = first; i < end; ++i) {
    const std::int32_t token = i < prompt.size() ? prompt[i] : response[i - prompt.size()];
    rows_.push_back({.token = token == kUnknown ? -1 - place : token,
                     .sequence = sequence,
                     .wants_logits = i + 1 == all});
  }
  new_pages_ += KvCache::pages_for(static_cast<std::int64_t>(end)) -
                KvCache::pages_for(static_cast<std::int64_t>(first));
}

}  // namespace lie
