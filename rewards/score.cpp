#include "rewards/score.h"

#include "common/clock.h"
#include "common/error.h"
#include "rewards/accuracy.h"
#include "verifier/verify.h"

namespace lie {
namespace {

// R_len, R_red, and the terms of ablations, into `score`.
void shape(const RewardOptions& options, std::int64_t max_response_tokens, double reference_length,
           std::int64_t length, Score& score) {
  const bool correct = score.verdict == VerdictCode::kEqual;
  RewardTerms& terms = score.terms;
  if (options.length.enabled) {
    terms.length =
        length_reward(options.length, correct, length, score.target_length, reference_length);
  }
  if (options.redundancy.enabled) {
    terms.redundancy = redundancy_reward(options.redundancy, score.coverage.largest_repeat);
  }
  if (options.coverage_bonus.enabled) {
    terms.coverage_bonus =
        coverage_bonus(options.coverage_bonus, correct, score.coverage.distinct_ngrams);
  }
  if (options.overlong.enabled) {
    terms.overlong = overlong_penalty(options.overlong, length, max_response_tokens);
  }
}

}  // namespace

void describe(FieldList& fields, RewardOptions& options) {
  fields.section("coverage", options.coverage);
  fields.section("length", options.length);
  fields.section("redundancy", options.redundancy);
  fields.section("coverage_bonus", options.coverage_bonus);
  fields.section("overlong", options.overlong);
}

void check_scorable(const RewardOptions& options, const Ticket& ticket) {
  const bool needed = options.length.enabled && ticket.purpose == Purpose::kTrain;
  if (!needed || ticket.prompt.reference_length >= 0) return;
  fail(
      "problem row {} of {}: no reference length, which the length reward needs; measure it with "
      "`lie_cluster reference-lengths`, or set reward.length.enabled to false",
      ticket.prompt.problem,
      ticket.prompt.data_source.empty() ? "the training data" : ticket.prompt.data_source);
}

Scorer::Scorer(const ScoringOptions& options)
    : options_(options), coverage_(options.rewards.coverage) {}

Score Scorer::score(const Ticket& ticket, const Response& response, std::string_view text) {
  const RewardOptions& rewards = options_.rewards;
  check_scorable(rewards, ticket);
  Score score;
  const Stopwatch watch;
  Verdict verdict = verify(ticket.prompt.gold, text, options_.verifier);
  score.verify_seconds = static_cast<float>(watch.seconds());
  score.verdict = verdict.code;
  score.extracted = std::move(verdict.extracted);
  score.terms.accuracy = accuracy_reward(verdict.code);
  score.coverage = coverage_.count(text, response.ids);
  const double reference = ticket.prompt.reference_length;
  if (reference >= 0) {
    score.target_length = target_length(rewards.length, reference, options_.max_response_tokens);
  }
  if (ticket.purpose == Purpose::kTrain) {
    shape(rewards, options_.max_response_tokens, reference,
          static_cast<std::int64_t>(response.ids.size()), score);
  }
  return score;
}

}  // namespace lie
