#include "actors/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/error.h"
#include "common/random.h"

namespace lie {
namespace {

// Pages of one response at its longest, besides the full pages that it shares with its prompt.
std::int64_t pages_of_sample(std::int64_t prompt_tokens, std::int64_t response_tokens) {
  return KvCache::pages_for(prompt_tokens + response_tokens) - prompt_tokens / KvCache::kPageTokens;
}

std::int64_t page_bytes(const ModelConfig& model) {
  return KvCache::page_elements(model) * static_cast<std::int64_t>(sizeof(float));
}

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

std::int64_t kv_cache_pages(const ModelConfig& model, const RolloutOptions& options) {
  check_fits_model(options, model);
  const std::int64_t prompt = KvCache::pages_for(options.max_prompt_tokens);
  const std::int64_t sample = KvCache::pages_for(options.longest_response()) + 1;
  const std::int64_t allowed = options.cache_mebibytes * (1 << 20) / page_bytes(model);
  if (allowed < prompt + sample) {
    fail(
        "cache_mebibytes is {}, but one response of {} tokens to a prompt of {} needs {} MiB of KV "
        "cache: raise it, or lower max_prompt_tokens or max_response_tokens",
        options.cache_mebibytes, options.longest_response(), options.max_prompt_tokens,
        (prompt + sample) * page_bytes(model) / (1 << 20) + 1);
  }
  return std::min(allowed, options.slots * (prompt + sample));
}

Generator::Generator(Transformer& policy, Operators& operators, const ModelConfig& model,
                     const RolloutOptions& options, std::uint64_t seed, EncodePrompt encode)
    : policy_(policy),
      operators_(operators),
      vocabulary_(model.vocabulary),
      options_(options),
      end_ids_(end_ids(model, options)),
      seed_(seed),
      encode_(std::move(encode)),
      pages_(kv_cache_pages(model, options)),
      cache_(model, operators, pages_),
      first_logits_(operators, model.vocabulary),
      ids_(operators.allocate(1, options.slots, DType::kInt32)),
      log_probs_(operators.allocate(1, options.slots, DType::kFloat32)) {}

void Generator::add(Ticket ticket) {
  check_samples(ticket);
  std::vector<std::int32_t> ids = encode_(ticket.prompt);
  check_prompt(ticket.prompt, ids, vocabulary_);
  const auto limit = static_cast<std::size_t>(options_.max_prompt_tokens);
  const std::size_t dropped = ids.size() > limit ? ids.size() - limit : 0;
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(dropped));
  const std::int32_t samples = ticket.asked().count;
  samples_to_begin_ += samples;
  follows_ = follows_ || !ticket.planned.empty();
  RolloutGroup& group = waiting_.emplace_back();
  group.responses.resize(static_cast<std::size_t>(samples));
  group.prompt_ids = std::move(ids);
  group.prompt_tokens_dropped = static_cast<std::int32_t>(dropped);
  group.ticket = std::move(ticket);
}

std::int64_t Generator::room() const {
  return std::max<std::int64_t>(options_.slots - std::ssize(running_) - samples_to_begin_, 0);
}

std::vector<RolloutGroup> Generator::step() {
  go_on_with_paused();
  open_groups();
  lay_out_rows();
  const Tensor logits = rows_.empty() ? Tensor() : policy_.decode(rows_, cache_);
  // Logits are in the order of the rows that want them: running responses, then finished prompts.
  const std::int64_t decoded = std::ssize(running_);
  keep_first_logits(logits.rows_at(decoded, logits.rows - decoded));
  begin_samples();
  if (!running_.empty()) {
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

bool Generator::reserve(std::int64_t pages) {
  if (pages_reserved_ + pages > pages_) return false;
  pages_reserved_ += pages;
  return true;
}

// A group opens once there is a slot to fill and room for its prompt and one response, so that
// every open group can go on whatever the others do.
void Generator::open_groups() {
  std::int64_t slots_spoken_for = std::ssize(running_);
  for (const Group& group : open_) slots_spoken_for += samples_of(group) - group.begun;
  while (!waiting_.empty() && slots_spoken_for < options_.slots) {
    RolloutGroup& next = waiting_.front();
    const std::int64_t prompt_tokens = std::ssize(next.prompt_ids);
    const std::int64_t prompt_pages = KvCache::pages_for(prompt_tokens);
    const std::int64_t sample_pages =
        pages_of_sample(prompt_tokens, sampling(next.ticket).max_response_tokens);
    if (!reserve(prompt_pages + sample_pages)) return;
    slots_spoken_for += next.ticket.asked().count;
    open_.push_back({.rollout = std::move(next),
                     .prompt_sequence = cache_.open(),
                     .free_seats = 1,
                     .prompt_pages = prompt_pages,
                     .sample_pages = sample_pages});
    waiting_.pop_front();
  }
}

void Generator::lay_out_rows() {
  rows_.clear();
  draws_.clear();
  for (const Running& running : running_) {
    draws_.push_back(draw_for(running, std::ssize(rows_)));
    rows_.push_back({.token = response_of(running).ids.back(),
                     .sequence = running.sequence,
                     .wants_logits = true});
  }
  lay_out_prompts();
}

void Generator::lay_out_prompts() {
  chunks_.clear();
  std::int64_t room = options_.prefill_tokens;
  for (Group& group : open_) {
    const std::vector<std::int32_t>& ids = group.rollout.prompt_ids;
    const std::int64_t tokens = std::min(room, std::ssize(ids) - group.prompt_read);
    if (tokens == 0) continue;
    for (std::int64_t i = group.prompt_read; i < group.prompt_read + tokens; ++i) {
      rows_.push_back({.token = ids[static_cast<std::size_t>(i)],
                       .sequence = group.prompt_sequence,
                       .wants_logits = i + 1 == std::ssize(ids)});
    }
    chunks_.push_back({.group = &group, .tokens = tokens});
    room -= tokens;
  }
}

void Generator::keep_first_logits(Tensor logits) {
  std::int64_t row = 0;
  for (const PromptChunk& chunk : chunks_) {
    Group& group = *chunk.group;
    group.prompt_read += chunk.tokens;
    if (group.prompt_read < std::ssize(group.rollout.prompt_ids)) continue;
    group.first_logits = first_logits_.keep(logits.rows_at(row++, 1));
    group.version = version_;
  }
}

// Slots and seats freed by this pass's tokens are filled in the next one: waiting for them would
// cost a device a round trip.
void Generator::begin_samples() {
  for (Group& group : open_) {
    while (group.first_logits >= 0 && std::ssize(running_) < options_.slots &&
           may_begin_sample(group) && take_seat(group)) {
      begin_sample(group);
    }
  }
}

bool Generator::take_seat(Group& group) {
  if (group.free_seats == 0) return reserve(group.sample_pages);
  --group.free_seats;
  return true;
}

void Generator::begin_sample(Group& group) {
  const Running& running =
      running_.emplace_back(Running{&group, group.begun++, cache_.fork(group.prompt_sequence)});
  draws_.push_back(draw_for(running, group.first_logits));
  --samples_to_begin_;
  if (group.begun < samples_of(group)) return;
  cache_.close(group.prompt_sequence);
  first_logits_.give_back(std::exchange(group.first_logits, -1));
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

// The first `decoded` of running_ draw from their row of `logits`, the others from their prompt's.
void Generator::draw_tokens(Tensor logits, std::int64_t decoded) {
  const std::int64_t count = std::ssize(running_), begun = count - decoded;
  const std::span<const Draw> draws(draws_);
  const DrawnTokens drawn = DrawnTokens{ids_.view(), log_probs_.view()}.from(0, count);
  operators_.sample(logits, draws.first(static_cast<std::size_t>(decoded)), drawn.from(0, decoded));
  operators_.sample(first_logits_.all(), draws.last(static_cast<std::size_t>(begun)),
                    drawn.from(decoded, begun));
  host_ids_.resize(running_.size());
  host_log_probs_.resize(running_.size());
  operators_.copy_to_host(drawn, host_ids_, host_log_probs_);
}

void Generator::take_tokens() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Running running = running_[i];
    if (append_token(running, host_ids_[i], host_log_probs_[i])) {
      if (is_planned_for_later(running)) {
        paused_.push_back(running);
      } else {
        running_[kept++] = running;
      }
    } else {
      cache_.close(running.sequence);
      finish_sample(*running.group);
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
  if (options_.weights_change_in_flight()) note_version(running);
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

// A seat that the group's other samples need stays with it.
void Generator::finish_sample(Group& group) {
  ++group.finished;
  if (group.begun + group.free_seats < samples_of(group)) {
    ++group.free_seats;
  } else {
    pages_reserved_ -= group.sample_pages;
  }
}

std::vector<RolloutGroup> Generator::take_finished() {
  std::vector<RolloutGroup> finished;
  for (auto group = open_.begin(); group != open_.end();) {
    if (group->finished < samples_of(*group)) {
      ++group;
      continue;
    }
    pages_reserved_ -= group->prompt_pages;
    finished.push_back(std::move(group->rollout));
    group = open_.erase(group);
  }
  return finished;
}

}  // namespace lie
