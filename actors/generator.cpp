#include "actors/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/error.h"
#include "common/random.h"

namespace lie {
namespace {

std::vector<std::int32_t> end_ids(const ModelConfig& model, const RolloutOptions& options) {
  if (options.end_of_sequence_ids.empty()) return model.end_of_sequence_ids;
  return {options.end_of_sequence_ids.begin(), options.end_of_sequence_ids.end()};
}

void check_prompt(const Prompt& prompt, std::span<const std::int32_t> ids,
                  std::int64_t vocabulary) {
  if (ids.empty()) {
    fail("problem row {} of {}: its prompt has no tokens", prompt.problem, prompt.data_source);
  }
  for (const std::int32_t id : ids) {
    if (id >= 0 && id < vocabulary) continue;
    fail(
        "problem row {} of {}: token id {} is not in the model's vocabulary of {}: tokenizer and "
        "model do not belong together",
        prompt.problem, prompt.data_source, id, vocabulary);
  }
}

void check_samples(const Ticket& ticket) {
  const SampleRange asked = ticket.asked();
  if (asked.is_within(ticket.samples)) return;
  fail("a ticket for problem row {} asks for {} samples from number {} on; its group has {}",
       ticket.prompt.problem, asked.count, asked.first, ticket.samples);
}

// Samples are counted through the groups of a step: a step may hold a problem twice, and its two
// groups must not be copies of each other.
RandomKey key_of(std::uint64_t seed, const Ticket& ticket, std::int32_t sample,
                 std::size_t token_index) {
  return {.seed = seed,
          .stream = ticket.purpose == Purpose::kTrain ? kRolloutStream : kEvaluationStream,
          .step = static_cast<std::uint32_t>(ticket.step),
          .problem = static_cast<std::uint32_t>(ticket.prompt.problem),
          .sample = static_cast<std::uint32_t>(ticket.group * ticket.samples + sample),
          .index = static_cast<std::uint32_t>(token_index)};
}

}  // namespace

Generator::Generator(Transformer& policy, Operators& operators, const ModelConfig& model,
                     const RolloutOptions& options, std::uint64_t seed, EncodePrompt encode)
    : policy_(policy),
      operators_(operators),
      vocabulary_(model.vocabulary),
      options_(options),
      end_ids_(end_ids(model, options)),
      seed_(seed),
      encode_(std::move(encode)),
      cache_(model, operators, kv_cache_pages(model, options, operators.packed_dtype())),
      first_logits_(operators, model.vocabulary),
      ids_(operators.allocate(1, options.slots, DType::kInt32)),
      log_probs_(operators.allocate(1, options.slots, DType::kFloat32)),
      use_{.pages = cache_.free_pages()} {}

void Generator::add(Ticket ticket) {
  check_samples(ticket);
  std::vector<std::int32_t> ids = encode_(ticket.prompt);
  check_prompt(ticket.prompt, ids, vocabulary_);
  const auto limit = static_cast<std::size_t>(options_.max_prompt_tokens);
  const std::size_t dropped = ids.size() > limit ? ids.size() - limit : 0;
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(dropped));
  const std::int32_t samples = ticket.asked().count;
  samples_to_begin_ += samples;
  Group& group = groups_.emplace_back();
  for (std::int32_t sample = samples; sample > 0;) group.waiting.push_back(--sample);
  group.rollout.responses.resize(static_cast<std::size_t>(samples));
  group.rollout.prompt_ids = std::move(ids);
  group.rollout.prompt_tokens_dropped = static_cast<std::int32_t>(dropped);
  group.rollout.ticket = std::move(ticket);
  plan_samples(group);
}

std::int64_t Generator::room() const {
  const auto running = std::ranges::count_if(running_, [&](const Running& r) { return is_due(r); });
  return std::max<std::int64_t>(options_.slots - running - samples_to_begin_, 0);
}

std::vector<RolloutGroup> Generator::step() {
  lay_out_rows();
  const Tensor logits = rows_.empty() ? Tensor() : policy_.decode(rows_, cache_);
  // Logits are in the order of the rows that want them: responses, then finished prompts.
  const std::int64_t decoded = std::ssize(draws_);
  keep_first_logits(logits.rows_at(decoded, logits.rows - decoded));
  begin_samples();
  note_use();
  if (!draws_.empty()) {
    draw_tokens(logits, decoded);
    take_tokens();
  } else if (rows_.empty()) {
    check_progress();
  }
  return take_finished();
}

std::int32_t Generator::samples_of(const Group& group) {
  return group.rollout.ticket.asked().count;
}

Response& Generator::response_of(const Running& running) {
  return running.group->rollout.responses[static_cast<std::size_t>(running.sample)];
}

std::int32_t Generator::number_of(const Running& running) {
  return running.group->rollout.ticket.asked().first + running.sample;
}

const SamplingOptions& Generator::sampling(const Ticket& ticket) const {
  return ticket.purpose == Purpose::kTrain ? options_.sampling : options_.evaluation;
}

std::int64_t Generator::tokens_of(const Running& running) {
  return std::ssize(running.group->rollout.prompt_ids) + std::ssize(response_of(running).ids);
}

// In the order of their age, so that those that are put back for want of pages have no rows yet.
void Generator::lay_out_rows() {
  open_prompts();
  rows_.clear();
  draws_.clear();
  read_.clear();
  rows_pages_ = 0;
  room_to_read_ = options_.prefill_tokens;
  for (std::size_t i = 0; i < running_.size(); ++i) lay_out_response(i);
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0) lay_out_prompt(group);
  }
}

// Its last token, of which the next one is drawn, and before that what is to be read again.
void Generator::lay_out_response(std::size_t place) {
  const Running running = running_[place];
  if (!is_due(running)) return;
  const std::int64_t unread = tokens_of(running) - cache_.length(running.sequence);
  const std::int64_t wanted = 1 + std::min(unread - 1, room_to_read_);
  while (rows_that_fit(running.sequence, wanted) < wanted && put_back_youngest(place + 1)) {
  }
  const std::int64_t rows = std::max(rows_that_fit(running.sequence, wanted), least_rows());
  room_to_read_ -= std::max<std::int64_t>(rows - 1, 0);
  if (rows == unread) draws_.push_back(draw_for(running, std::ssize(draws_)));
  lay_out(running.sequence, running.group->rollout.prompt_ids, response_of(running).ids, rows);
}

void Generator::lay_out_prompt(Group& group) {
  const std::vector<std::int32_t>& prompt = group.rollout.prompt_ids;
  const std::int64_t unread = std::ssize(prompt) - cache_.length(group.prompt_sequence);
  const std::int64_t wanted = std::min(unread, room_to_read_);
  if (wanted == 0) return;
  const std::int64_t rows = std::max(rows_that_fit(group.prompt_sequence, wanted), least_rows());
  room_to_read_ -= rows;
  if (rows == unread) read_.push_back(&group);
  lay_out(group.prompt_sequence, prompt, {}, rows);
}

// How many of `wanted` rows the pages have place for.
std::int64_t Generator::rows_that_fit(std::int32_t sequence, std::int64_t wanted) const {
  const std::int64_t length = cache_.length(sequence);
  const std::int64_t in_own = KvCache::pages_for(length) * KvCache::kPageTokens - length;
  const std::int64_t in_free = (cache_.free_pages() - rows_pages_) * KvCache::kPageTokens;
  return std::min(wanted, in_own + in_free);
}

// The next rows of a sequence that holds, or is to hold, prompt and response. The first of a pass
// is the oldest's, which has place always; were it not so, the cache would say it.
void Generator::lay_out(std::int32_t sequence, std::span<const std::int32_t> prompt,
                        std::span<const std::int32_t> response, std::int64_t rows) {
  const auto first = static_cast<std::size_t>(cache_.length(sequence));
  const std::size_t end = first + static_cast<std::size_t>(rows);
  const std::size_t all = prompt.size() + response.size();
  for (std::size_t i = first; i < end; ++i) {
    rows_.push_back({.token = i < prompt.size() ? prompt[i] : response[i - prompt.size()],
                     .sequence = sequence,
                     .wants_logits = i + 1 == all});
  }
  rows_pages_ += KvCache::pages_for(static_cast<std::int64_t>(end)) -
                 KvCache::pages_for(static_cast<std::int64_t>(first));
}

void Generator::keep_first_logits(Tensor logits) {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    read_[i]->first_logits = first_logits_.keep(logits.rows_at(static_cast<std::int64_t>(i), 1));
    read_[i]->version = version_;
  }
}

Draw Generator::draw_for(const Running& running, std::int64_t row) const {
  const Ticket& ticket = running.group->rollout.ticket;
  const SamplingOptions& how = sampling(ticket);
  return {.row = row,
          .temperature = static_cast<float>(how.temperature),
          .top_p = how.top_p,
          .top_k = how.top_k,
          .key = key_of(seed_, ticket, number_of(running), response_of(running).ids.size())};
}

// The first `decoded` draw from their row of `logits`, the others from their prompt's.
void Generator::draw_tokens(Tensor logits, std::int64_t decoded) {
  const std::int64_t count = std::ssize(draws_), begun = count - decoded;
  const std::span<const Draw> draws(draws_);
  const DrawnTokens drawn = DrawnTokens{ids_.view(), log_probs_.view()}.from(0, count);
  operators_.sample(logits, draws.first(static_cast<std::size_t>(decoded)), drawn.from(0, decoded));
  operators_.sample(first_logits_.all(), draws.last(static_cast<std::size_t>(begun)),
                    drawn.from(decoded, begun));
  host_ids_.resize(draws_.size());
  host_log_probs_.resize(draws_.size());
  operators_.copy_to_host(drawn, host_ids_, host_log_probs_);
}

void Generator::take_tokens() {
  std::size_t kept = 0, drawn = 0;
  for (const Running running : running_) {
    const bool draws = cache_.length(running.sequence) == tokens_of(running);
    const std::size_t i = drawn;
    drawn += draws ? 1 : 0;
    if (!draws || append_token(running, host_ids_[i], host_log_probs_[i])) {
      if (!puts_by(running)) running_[kept++] = running;
    } else {
      end(running);
    }
  }
  running_.resize(kept);
}

// False if it was the response's last.
bool Generator::append_token(const Running& running, std::int32_t id, float log_prob) {
  const Ticket& ticket = running.group->rollout.ticket;
  Response& response = response_of(running);
  if (!std::isfinite(log_prob)) {
    fail(
        "the policy's logits are not finite: step {}, problem row {}, sample {}, token {}: its "
        "weights have diverged or are broken",
        ticket.step, ticket.prompt.problem, number_of(running), response.ids.size());
  }
  if (weights_change_in_flight()) note_version(running);
  response.ids.push_back(id);
  response.behavior_log_probs.push_back(log_prob);
  ++tokens_generated_;
  if (std::find(end_ids_.begin(), end_ids_.end(), id) != end_ids_.end()) {
    response.finish = FinishReason::kEndOfSequence;
    return false;
  }
  response.finish = FinishReason::kLength;
  return std::ssize(response.ids) < sampling(ticket).max_response_tokens;
}

void Generator::end(const Running& running) {
  cache_.close(running.sequence);
  ++running.group->finished;
  ++ended_;
  ended_tokens_ += std::ssize(response_of(running).ids);
}

std::vector<RolloutGroup> Generator::take_finished() {
  std::vector<RolloutGroup> finished;
  for (auto group = groups_.begin(); group != groups_.end();) {
    if (group->finished < samples_of(*group)) {
      ++group;
      continue;
    }
    finished.push_back(std::move(group->rollout));
    group = groups_.erase(group);
  }
  return finished;
}

}  // namespace lie
