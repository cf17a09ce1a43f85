#include "actors/generator.h"

#include <algorithm>
#include <utility>

#include "actors/kv_cache_size.h"
#include "common/base/error.h"
#include "common/base/trace_range.h"

namespace lie {
namespace {

/// Returns the tokens that are not drawn before a response's minimum length.
std::vector<std::int32_t> barred_ids(const RolloutOptions& options, const ModelConfig& model) {
  std::vector<std::int32_t> ids = end_ids(options, model);
  for (const std::int64_t id : options.barred_ids) ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

void check_prompt(const Prompt& prompt, std::span<const std::int32_t> ids,
                  std::int64_t vocabulary) {
  if (ids.empty()) {
    fail("problem row {} of {}: its prompt has no tokens", prompt.problem + 1, prompt.data_source);
  }
  for (const std::int32_t id : ids) {
    if (id >= 0 && id < vocabulary) continue;
    fail(
        "problem row {} of {}: token id {} is not in the model's vocabulary of {}: tokenizer and "
        "model do not match",
        prompt.problem + 1, prompt.data_source, id, vocabulary);
  }
}

void check_samples(const Ticket& ticket) {
  const SampleRange range = ticket.asked();
  if (range.is_within(ticket.samples)) return;
  fail("a ticket for problem row {} requests {} samples from number {} on; its group has {}",
       ticket.prompt.problem + 1, range.count, range.first, ticket.samples);
}

}  // namespace

Generator::Generator(Transformer& policy, Operators& operators, const ModelConfig& model,
                     const RolloutOptions& options, std::uint64_t seed, EncodePrompt encode)
    : policy_(policy),
      operators_(operators),
      vocabulary_(model.vocabulary),
      begin_of_sequence_id_(model.begin_of_sequence_id),
      options_(options),
      end_ids_(end_ids(options, model)),
      barred_ids_(barred_ids(options, model)),
      seed_(seed),
      encode_(std::move(encode)),
      on_device_(!operators.place().is_host()),
      cache_(model, operators,
             kv_cache_pages(model, with_own_gpu(options, operators), operators.packed_dtype()),
             policy.cache_memory()),
      first_logits_(operators, model.vocabulary),
      ids_(operators.allocate(1, options.slots, DType::kInt32)),
      log_probs_(operators.allocate(1, options.slots, DType::kFloat32)),
      use_{.pages = cache_.free_pages()} {}

void Generator::add(Ticket ticket) {
  check_samples(ticket);
  std::vector<std::int32_t> ids = encode_(ticket.prompt);
  check_prompt(ticket.prompt, ids, vocabulary_);
  const auto limit = options_.max_prompt_tokens;
  const std::int64_t dropped = std::max<std::int64_t>(std::ssize(ids) - limit, 0);
  // A token that begins the sequence stays, because the model has seen no text without it.
  const bool keeps_first = limit > 1 && begin_of_sequence_id_ == ids.front();
  const auto first_dropped = ids.begin() + (keeps_first ? 1 : 0);
  ids.erase(first_dropped, first_dropped + dropped);
  const std::int32_t samples = ticket.asked().count;
  samples_to_begin_ += samples;
  Group& group = groups_.emplace_back();
  for (std::int32_t position = samples; position > 0;) group.waiting.push_back(--position);
  group.rollout.responses.resize(static_cast<std::size_t>(samples));
  group.rollout.prompt_ids = std::move(ids);
  group.rollout.prompt_tokens_dropped = static_cast<std::int32_t>(dropped);
  group.rollout.ticket = std::move(ticket);
  plan_samples(group);
}

std::int64_t Generator::free_slots() const {
  const auto running = std::ranges::count_if(running_, [&](const Running& r) { return is_due(r); });
  return std::max<std::int64_t>(options_.slots - running - samples_to_begin_, 0);
}

std::vector<RolloutGroup> Generator::step() {
  const TraceRange range("decode pass");
  if (!runs_ahead() || !next_pass_fits()) receive_tokens(pending_);
  std::swap(previous_, pending_);
  add_rows();
  const Tensor logits = rows_.empty() ? Tensor() : policy_.decode(rows_, cache_, ids_.view());
  // Logits are in the order of the rows that want them: responses, then completed prompts.
  const std::int64_t decoded = std::ssize(draws_);
  keep_first_logits(logits.rows_at(decoded, logits.rows - decoded));
  begin_samples();
  record_use();
  if (!draws_.empty()) {
    sample_tokens(logits, decoded);
    append_unknown_tokens();
  } else if (rows_.empty() && previous_.tokens.empty()) {
    check_progress();
  }
  receive_tokens(previous_);
  if (!runs_ahead()) receive_tokens(pending_);
  std::vector<RolloutGroup> finished = remove_finished();
  // Without a response in flight the weights may change, so the last pass must not run any more.
  if (idle()) receive_tokens(pending_);
  return finished;
}

const SamplingOptions& Generator::sampling(const Ticket& ticket) const {
  return ticket.purpose == Purpose::kTrain ? options_.sampling : options_.evaluation;
}

std::vector<RolloutGroup> Generator::remove_finished() {
  std::vector<RolloutGroup> finished;
  for (auto group = groups_.begin(); group != groups_.end();) {
    if (group->finished < group->samples()) {
      ++group;
      continue;
    }
    finished.push_back(std::move(group->rollout));
    group = groups_.erase(group);
  }
  return finished;
}

}  // namespace lie
