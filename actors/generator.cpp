#include "actors/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/error.h"
#include "common/base/random.h"

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
      on_device_(!operators.place().is_host()),
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
  if (!runs_ahead() || !has_pages_for_next()) take_tokens(drawn_);
  std::swap(before_, drawn_);
  lay_out_rows();
  const Tensor logits = rows_.empty() ? Tensor() : policy_.decode(rows_, cache_, ids_.view());
  // Logits are in the order of the rows that want them: responses, then finished prompts.
  const std::int64_t decoded = std::ssize(draws_);
  keep_first_logits(logits.rows_at(decoded, logits.rows - decoded));
  begin_samples();
  note_use();
  if (!draws_.empty()) {
    draw_tokens(logits, decoded);
    expect_tokens();
  } else if (rows_.empty() && before_.tokens.empty()) {
    check_progress();
  }
  take_tokens(before_);
  if (!runs_ahead()) take_tokens(drawn_);
  std::vector<RolloutGroup> finished = take_finished();
  if (idle()) take_tokens(drawn_);  // of nobody, but their pass reads weights that may change now
  return finished;
}

std::int32_t Generator::samples_of(const Group& group) {
  return group.rollout.ticket.asked().count;
}

Response& Generator::response_of(const Member& member) {
  return member.group->rollout.responses[static_cast<std::size_t>(member.sample)];
}

std::int32_t Generator::number_of(const Member& member) {
  return member.group->rollout.ticket.asked().first + member.sample;
}

const SamplingOptions& Generator::sampling(const Ticket& ticket) const {
  return ticket.purpose == Purpose::kTrain ? options_.sampling : options_.evaluation;
}

std::int64_t Generator::tokens_of(const Member& member) {
  return std::ssize(member.group->rollout.prompt_ids) + std::ssize(response_of(member).ids);
}

// Of the tokens that it may have: the host may not know yet that it is to end.
bool Generator::is_full(const Member& member) const {
  return std::ssize(response_of(member).ids) >=
         sampling(member.group->rollout.ticket).max_response_tokens;
}

// Its last token, of which the next one is drawn, and before that what is to be read again.
std::int64_t Generator::rows_wanted(const Running& running, std::int64_t prefill_rows) const {
  if (!is_due(running) || is_full(running)) return 0;
  return 1 + std::min(tokens_of(running) - cache_.length(running.sequence) - 1, prefill_rows);
}

// Whether the next pass puts no response back.
bool Generator::has_pages_for_next() const {
  std::int64_t prefill_rows = options_.prefill_tokens, pages = cache_.free_pages();
  for (const Running& running : running_) {
    const std::int64_t wanted = rows_wanted(running, prefill_rows);
    const std::int64_t length = cache_.length(running.sequence);
    prefill_rows -= std::max<std::int64_t>(wanted - 1, 0);
    pages -= KvCache::pages_for(length + wanted) - KvCache::pages_for(length);
  }
  return pages >= 0;
}

// In the order of their age, so that those that are put back for want of pages have no rows yet.
void Generator::lay_out_rows() {
  open_prompts();
  rows_.clear();
  draws_.clear();
  read_.clear();
  rows_pages_ = 0;
  prefill_rows_left_ = options_.prefill_tokens;
  for (std::size_t i = 0; i < running_.size(); ++i) lay_out_response(i);
  for (Group& group : groups_) {
    if (group.prompt_sequence >= 0) lay_out_prompt(group);
  }
}

void Generator::lay_out_response(std::size_t place) {
  Running& running = running_[place];
  const std::int64_t wanted = rows_wanted(running, prefill_rows_left_);
  if (wanted == 0) return;
  while (rows_that_fit(running.sequence, wanted) < wanted && preempt_youngest(place + 1)) {
  }
  const std::int64_t rows = std::max(rows_that_fit(running.sequence, wanted), least_rows());
  prefill_rows_left_ -= std::max<std::int64_t>(rows - 1, 0);
  const bool reads_all = cache_.length(running.sequence) + rows == tokens_of(running);
  lay_out(running.sequence, running.group->rollout.prompt_ids, response_of(running).ids, rows,
          running.place);
  if (reads_all) draw_next(running, std::ssize(draws_));
}

void Generator::lay_out_prompt(Group& group) {
  const std::vector<std::int32_t>& prompt = group.rollout.prompt_ids;
  const std::int64_t unread = std::ssize(prompt) - cache_.length(group.prompt_sequence);
  const std::int64_t wanted = std::min(unread, prefill_rows_left_);
  if (wanted == 0) return;
  const std::int64_t rows = std::max(rows_that_fit(group.prompt_sequence, wanted), least_rows());
  prefill_rows_left_ -= rows;
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
// is the oldest's, which has place always; were it not so, the cache would say it. `place`: of the
// token that the host does not know.
void Generator::lay_out(std::int32_t sequence, std::span<const std::int32_t> prompt,
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
  rows_pages_ += KvCache::pages_for(static_cast<std::int64_t>(end)) -
                 KvCache::pages_for(static_cast<std::int64_t>(first));
}

void Generator::keep_first_logits(Tensor logits) {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    read_[i]->first_logits = first_logits_.keep(logits.rows_at(static_cast<std::int64_t>(i), 1));
    read_[i]->version = version_;
  }
}

void Generator::draw_next(Running& running, std::int64_t row) {
  const Ticket& ticket = running.group->rollout.ticket;
  const SamplingOptions& how = sampling(ticket);
  const std::size_t index = response_of(running).ids.size();
  running.place = static_cast<std::int32_t>(draws_.size());
  drawn_.tokens.push_back({running, index});
  draws_.push_back({.row = row,
                    .temperature = static_cast<float>(how.temperature),
                    .top_p = how.top_p,
                    .top_k = how.top_k,
                    .key = key_of(seed_, ticket, number_of(running), index)});
}

// The first `decoded` draw from their row of `logits`, the others from their prompt's.
void Generator::draw_tokens(Tensor logits, std::int64_t decoded) {
  const std::int64_t count = std::ssize(draws_), begun = count - decoded;
  const std::span<const Draw> draws(draws_);
  const DrawnTokens drawn = DrawnTokens{ids_.view(), log_probs_.view()}.from(0, count);
  operators_.sample(logits, draws.first(static_cast<std::size_t>(decoded)), drawn.from(0, decoded));
  operators_.sample(first_logits_.all(), draws.last(static_cast<std::size_t>(begun)),
                    drawn.from(decoded, begun));
  drawn_.receive = operators_.send_to_host(drawn);
}

void Generator::expect_tokens() {
  for (const Drawn& drawn : drawn_.tokens) {
    if (weights_change_in_flight()) note_version(drawn);
    response_of(drawn).ids.push_back(kUnknown);
    response_of(drawn).behavior_log_probs.push_back(NAN);
  }
}

// Waits for them. They are in the order of running_, from which some may have ended meanwhile.
void Generator::take_tokens(DrawnPass& pass) {
  std::vector<Drawn>& drawn = pass.tokens;
  if (drawn.empty()) return;
  host_ids_.resize(drawn.size());
  host_log_probs_.resize(drawn.size());
  pass.receive(host_ids_, host_log_probs_);
  std::size_t kept = 0, i = 0;
  for (const Running running : running_) {
    while (i < drawn.size() && drawn[i].group == nullptr) ++i;
    const bool drew = i < drawn.size() && running == drawn[i];
    const bool goes_on = !drew || take_token(drawn[i], host_ids_[i], host_log_probs_[i]);
    i += drew ? 1 : 0;
    if (!goes_on) {
      end(running);
    } else if (!puts_by(running)) {
      running_[kept++] = running;
    }
  }
  running_.resize(kept);
  drawn.clear();
}

// False if it was the response's last.
bool Generator::take_token(const Drawn& drawn, std::int32_t id, float log_prob) {
  const Ticket& ticket = drawn.group->rollout.ticket;
  Response& response = response_of(drawn);
  if (!std::isfinite(log_prob)) {
    fail(
        "the policy's logits are not finite: step {}, problem row {}, sample {}, token {}: its "
        "weights have diverged or are broken",
        ticket.step, ticket.prompt.problem, number_of(drawn), drawn.index);
  }
  response.ids[drawn.index] = id;
  response.behavior_log_probs[drawn.index] = log_prob;
  ++tokens_generated_;
  const bool ends = std::ranges::find(end_ids_, id) != end_ids_.end();
  response.finish = ends ? FinishReason::kEndOfSequence : FinishReason::kLength;
  const auto length = static_cast<std::int64_t>(drawn.index) + 1;
  return !ends && length < sampling(ticket).max_response_tokens;
}

void Generator::end(const Running& running) {
  if (response_of(running).ids.back() == kUnknown) drop_last(running);
  cache_.close(running.sequence);
  ++running.group->finished;
  ++ended_;
  ended_tokens_ += std::ssize(response_of(running).ids);
}

// The pass that runs has drawn it behind the response's end.
void Generator::drop_last(const Running& running) {
  Response& response = response_of(running);
  response.ids.pop_back();
  response.behavior_log_probs.pop_back();
  VersionRuns& versions = response.versions;
  if (!versions.empty() && --versions.back().tokens == 0) versions.pop_back();
  drawn_.tokens[static_cast<std::size_t>(running.place)].group = nullptr;
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
