#include "rewards/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/base/clock.h"
#include "verifier/verify.h"

namespace lie {
namespace {

/// What a program answers besides its reward.
void take(ProgramAnswer answer, Score& score) {
  if (answer.correct) score.verdict = *answer.correct ? VerdictCode::kEqual : VerdictCode::kUnequal;
  std::ranges::move(answer.numbers, std::back_inserter(score.numbers));
}

double accuracy_of(std::span<const Score> scores) {
  const auto right = std::ranges::count(scores, VerdictCode::kEqual, &Score::verdict);
  return static_cast<double>(right) / static_cast<double>(scores.size());
}

}  // namespace

Scorer::Scorer(const ScoringOptions& options, const ProgramHost& host)
    : options_(options),
      coverage_(options.rewards.coverage),
      terms_(reward_terms(options.rewards, options.max_response_tokens)) {
  for (const auto& states : metric_states(options.rewards.coverage, options.metric_coverage)) {
    metric_coverage_.emplace_back(fmt::format("_{}", states.ngram), states);
  }
  using Kind = RewardProgram::Kind;
  const std::string& verifier = options.verifier_program.command;
  if (!verifier.empty()) verifier_.emplace(Kind::kVerifier, verifier, host);
  if (!options.rewards.command.empty()) {
    reward_.emplace(Kind::kReward, options.rewards.command, host);
  }
}

std::vector<Score> Scorer::score(const Ticket& ticket, std::span<const Response> responses,
                                 std::span<const std::string> texts) {
  std::vector<Score> scores(responses.size());
  for (std::size_t i = 0; verifier_ && i < responses.size(); ++i) {
    verifier_->ask({ticket, responses[i], i, texts[i]});
  }
  for (std::size_t i = 0; i < responses.size(); ++i) {
    scores[i] = verified(ticket, texts[i]);
    if (reward_) reward_->ask({ticket, responses[i], i, texts[i], &scores[i]});
  }
  std::vector<float> asked;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    asked.push_back(count(ticket, responses[i], texts[i], scores[i]));
  }
  const double accuracy = accuracy_of(scores);
  for (std::size_t i = 0; i < responses.size(); ++i) {
    scores[i].rewards = rewards({ticket, responses[i], texts[i], scores[i], accuracy});
    if (reward_) scores[i].rewards.push_back(asked[i]);
  }
  return scores;
}

/// Verdict and answer, of the verifier's program where there is one.
Score Scorer::verified(const Ticket& ticket, std::string_view text) {
  Score score;
  const Stopwatch watch;
  if (verifier_) {
    ProgramAnswer answer = verifier_->answer();
    score.extracted = std::move(answer.answer);
    take(std::move(answer), score);
  } else {
    // What copies the prompt is refused in training only, so that evaluations stay comparable.
    const bool training = ticket.purpose == Purpose::kTrain;
    Verdict verdict = verify(ticket.prompt.gold, text, options_.verifier,
                             training ? std::string_view(ticket.prompt.text) : std::string_view());
    score.verdict = verdict.code;
    score.extracted = std::move(verdict.extracted);
  }
  score.verify_seconds = static_cast<float>(watch.seconds());
  return score;
}

/// Coverage, as the reward counts it and by the further metrics.
void Scorer::measure(const Response& response, std::string_view text, Score& score) {
  score.coverage = coverage_.count(text, response.ids);
  for (auto& [suffix, states] : metric_coverage_) {
    const Coverage coverage = states.count(text, response.ids);
    const auto distinct = static_cast<double>(coverage.distinct_ngrams);
    score.numbers.push_back({"c_context" + suffix, distinct});
    score.numbers.push_back({"r_context" + suffix, coverage.ratio()});
  }
}

/// All that comes before the rewards; returns that of the program.
float Scorer::count(const Ticket& ticket, const Response& response, std::string_view text,
                    Score& score) {
  measure(response, text, score);
  for (const RewardTerm& term : terms_) {
    if (term.target_length) score.target_length = term.target_length(ticket);
  }
  if (!reward_) return 0;
  ProgramAnswer answer = reward_->answer();
  const float asked = ticket.purpose == Purpose::kTrain ? answer.reward : 0.0F;
  take(std::move(answer), score);
  return asked;
}

std::vector<float> Scorer::rewards(const JudgedResponse& judged) const {
  const bool training = judged.ticket.purpose == Purpose::kTrain;
  std::vector<float> values;
  for (const RewardTerm& term : terms_) {
    if (training && term.check) term.check(judged.ticket);
    const bool counts = term.reward && (training || term.in_evaluation);
    values.push_back(counts ? term.reward(judged) : 0.0F);
  }
  return values;
}

void Scorer::finish() {
  if (verifier_) verifier_->finish();
  if (reward_) reward_->finish();
}

}  // namespace lie
