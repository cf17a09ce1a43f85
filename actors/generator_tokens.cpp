// The tokens of a pass: drawn from logits, received by the host, stored in their responses.
#include <algorithm>
#include <cmath>

#include "actors/generator.h"
#include "common/base/error.h"
#include "common/base/random.h"

namespace lie {
namespace {

/// Numbers the samples through all groups of a step, because a step may hold a problem twice and
/// its two groups must differ.
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

/// Keeps the logits after each completed prompt until all of its samples have begun.
void Generator::keep_first_logits(Tensor logits) {
  for (std::size_t i = 0; i < prefilled_.size(); ++i) {
    prefilled_[i]->first_logits =
        first_logits_.keep(logits.rows_at(static_cast<std::int64_t>(i), 1));
    prefilled_[i]->version = version_;
  }
}

/// Draws the next token of a response from row `row` of the logits.
void Generator::draw_next(Running& running, std::int64_t row) {
  const Ticket& ticket = running.group->rollout.ticket;
  const SamplingOptions& options = sampling(ticket);
  const std::size_t index = running.response().ids.size();
  running.place = static_cast<std::int32_t>(draws_.size());
  pending_.tokens.push_back({running, index});
  draws_.push_back({.row = row,
                    .temperature = static_cast<float>(options.temperature),
                    .top_p = options.top_p,
                    .top_k = options.top_k,
                    .key = key_of(seed_, ticket, running.number(), index)});
}

/// Bars the ends in responses below their minimum length. Samples of one group share a row of kept
/// logits, and all of them draw their first token from it.
void Generator::bar_ends(Tensor logits, std::int64_t decoded) {
  barred_rows_.clear();
  std::int64_t in_flight = 0;
  for (std::size_t i = 0; i < draws_.size(); ++i) {
    const DrawnToken& drawn = pending_.tokens[i];
    const std::int64_t shortest = sampling(drawn.group->rollout.ticket).min_response_tokens;
    if (static_cast<std::int64_t>(drawn.index) >= shortest) continue;
    barred_rows_.push_back(static_cast<std::int32_t>(draws_[i].row));
    if (static_cast<std::int64_t>(i) < decoded) ++in_flight;
  }
  if (barred_rows_.empty()) return;
  const Indices rows = operators_.upload(barred_rows_), ids = operators_.upload(barred_ids_);
  const std::int64_t begun = std::ssize(barred_rows_) - in_flight;
  if (in_flight > 0) operators_.bar(logits, rows.from(0, in_flight), ids);
  if (begun > 0) operators_.bar(first_logits_.all(), rows.from(in_flight, begun), ids);
}

/// The first `decoded` draws use their row of `logits`, the others use the kept logits of their
/// prompt.
void Generator::sample_tokens(Tensor logits, std::int64_t decoded) {
  bar_ends(logits, decoded);
  const std::int64_t count = std::ssize(draws_), begun = count - decoded;
  const std::span<const Draw> draws(draws_);
  const DrawnTokens drawn = DrawnTokens{ids_.view(), log_probs_.view()}.from(0, count);
  operators_.sample(logits, draws.first(static_cast<std::size_t>(decoded)), drawn.from(0, decoded));
  operators_.sample(first_logits_.all(), draws.last(static_cast<std::size_t>(begun)),
                    drawn.from(decoded, begun));
  pending_.receive = operators_.send_to_host(drawn);
}

/// Appends placeholders to the responses until the host receives the tokens.
void Generator::append_unknown_tokens() {
  for (const DrawnToken& drawn : pending_.tokens) {
    if (weights_change_in_flight()) record_version(drawn);
    drawn.response().ids.push_back(kUnknown);
    drawn.response().behavior_log_probs.push_back(NAN);
  }
}

/// Waits for the tokens and stores them. They are in the order of running_, except that some of
/// their responses may have ended since.
void Generator::receive_tokens(PendingTokens& pending) {
  std::vector<DrawnToken>& drawn = pending.tokens;
  if (drawn.empty()) return;
  host_ids_.resize(drawn.size());
  host_log_probs_.resize(drawn.size());
  pending.receive(host_ids_, host_log_probs_);
  std::size_t kept = 0, i = 0;
  for (const Running running : running_) {
    while (i < drawn.size() && drawn[i].group == nullptr) ++i;
    const bool drew = i < drawn.size() && running == drawn[i];
    const bool continues = !drew || store_token(drawn[i], host_ids_[i], host_log_probs_[i]);
    i += drew ? 1 : 0;
    if (!continues) {
      end(running);
    } else if (!set_aside(running)) {
      running_[kept++] = running;
    }
  }
  running_.resize(kept);
  drawn.clear();
}

/// Returns false if the token was the last of its response.
bool Generator::store_token(const DrawnToken& drawn, std::int32_t id, float log_prob) {
  const Ticket& ticket = drawn.group->rollout.ticket;
  Response& response = drawn.response();
  if (!std::isfinite(log_prob)) {
    fail(
        "the policy's logits are not finite: step {}, problem row {}, sample {}, token {}: its "
        "weights have diverged or are corrupt",
        ticket.step, ticket.prompt.problem + 1, drawn.number(), drawn.index);
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
  if (running.response().ids.back() == kUnknown) drop_extra_token(running);
  cache_.close(running.sequence);
  ++running.group->finished;
  ++finished_responses_;
  finished_tokens_ += std::ssize(running.response().ids);
}

/// Drops the token that the pass in progress draws after the end of the response.
void Generator::drop_extra_token(const Running& running) {
  Response& response = running.response();
  response.ids.pop_back();
  response.behavior_log_probs.pop_back();
  VersionRuns& versions = response.versions;
  if (!versions.empty() && --versions.back().tokens == 0) versions.pop_back();
  pending_.tokens[static_cast<std::size_t>(running.place)].group = nullptr;
}

}  // namespace lie
