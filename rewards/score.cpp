#include "rewards/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/base/clock.h"
#include "verifier/verify.h"

namespace lie {
namespace {

/// Stores a program's answer, except its reward, in the score.
void store(ProgramAnswer answer, Score& score) {
  if (answer.correct) score.verdict = *answer.correct ? VerdictCode::kEqual : VerdictCode::kUnequal;
  std::ranges::move(answer.numbers, std::back_inserter(score.numbers));
}

ProgramHost limited(ProgramHost host, double time_limit_seconds) {
  host.time_limit_seconds = time_limit_seconds;
  return host;
}

}  // namespace

GroupFacts group_facts(std::span<const Response> responses, std::span<const Score> scores) {
  const auto size = static_cast<double>(responses.size());
  const auto correct = std::ranges::count(scores, VerdictCode::kEqual, &Score::verdict);
  GroupFacts facts{.accuracy = static_cast<double>(correct) / size,
                   .shortest = std::ssize(responses.front().ids)};
  double tokens = 0;
  for (const Response& response : responses) {
    const std::int64_t length = std::ssize(response.ids);
    tokens += static_cast<double>(length);
    facts.shortest = std::min(facts.shortest, length);
    facts.longest = std::max(facts.longest, length);
  }
  facts.mean_length = tokens / size;
  return facts;
}

Scorer::Scorer(const ScoringOptions& options, const ProgramHost& host)
    : options_(options),
      coverage_(options.rewards.coverage),
      terms_(reward_terms(options.rewards, options.max_response_tokens)) {
  for (const auto& states : metric_states(options.rewards.coverage, options.metric_coverage)) {
    metric_coverage_.emplace_back(fmt::format("_{}", states.ngram), states);
  }
  using Kind = RewardProgram::Kind;
  const VerifierProgramOptions& verifier = options.verifier_program;
  const RewardOptions& reward = options.rewards;
  const double verifier_limit = verifier.command_time_limit_seconds;
  const double reward_limit = reward.command_time_limit_seconds;
  if (!verifier.command.empty()) {
    verifier_.emplace(Kind::kVerifier, verifier.command, limited(host, verifier_limit));
  }
  if (!reward.command.empty()) {
    reward_.emplace(Kind::kReward, reward.command, limited(host, reward_limit));
  }
}

std::vector<Score> Scorer::score(const Ticket& ticket, std::span<const Response> responses,
                                 std::span<const std::string> texts,
                                 std::span<const std::size_t> samples) {
  const auto sample = [samples](std::size_t i) { return samples.empty() ? i : samples[i]; };
  std::vector<Score> scores(responses.size());
  for (std::size_t i = 0; verifier_ && i < responses.size(); ++i) {
    verifier_->send({ticket, responses[i], sample(i), texts[i]});
  }
  for (std::size_t i = 0; i < responses.size(); ++i) {
    scores[i] = verified(ticket, texts[i]);
    if (reward_) reward_->send({ticket, responses[i], sample(i), texts[i], &scores[i]});
  }
  std::vector<float> program_rewards;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    program_rewards.push_back(complete(ticket, responses[i], texts[i], scores[i]));
  }
  if (responses.empty()) return scores;
  const GroupFacts facts = group_facts(responses, scores);
  for (std::size_t i = 0; i < responses.size(); ++i) {
    scores[i].rewards = rewards({ticket, responses[i], texts[i], scores[i], facts});
    if (reward_) scores[i].rewards.push_back(program_rewards[i]);
  }
  return scores;
}

/// Returns the verdict and the answer, from the verifier program if there is one.
Score Scorer::verified(const Ticket& ticket, std::string_view text) {
  Score score;
  const Stopwatch watch;
  if (verifier_) {
    ProgramAnswer answer = verifier_->receive();
    score.extracted = std::move(answer.answer);
    store(std::move(answer), score);
  } else {
    // Copies of the prompt are refused in training only, so that evaluations stay comparable.
    const bool training = ticket.purpose == Purpose::kTrain;
    Verdict verdict = verify(ticket.prompt.gold, text, options_.verifier,
                             training ? std::string_view(ticket.prompt.text) : std::string_view());
    score.verdict = verdict.code;
    score.extracted = std::move(verdict.extracted);
  }
  score.verify_seconds = static_cast<float>(watch.seconds());
  return score;
}

/// Measures the coverage that the reward uses, and that of the additional metrics.
void Scorer::measure(const Response& response, std::string_view text, Score& score) {
  score.coverage = coverage_.count(text, response.ids);
  for (auto& [suffix, states] : metric_coverage_) {
    const Coverage coverage = states.count(text, response.ids);
    const auto distinct = static_cast<double>(coverage.distinct_ngrams);
    score.numbers.push_back({"c_context" + suffix, distinct});
    score.numbers.push_back({"r_context" + suffix, coverage.ratio()});
  }
}

/// Sets coverage, target length and the reward program's answer. Returns the program's reward.
float Scorer::complete(const Ticket& ticket, const Response& response, std::string_view text,
                       Score& score) {
  measure(response, text, score);
  for (const RewardTerm& term : terms_) {
    if (term.target_length) score.target_length = term.target_length(ticket);
  }
  if (!reward_) return 0;
  ProgramAnswer answer = reward_->receive();
  const float reward = ticket.purpose == Purpose::kTrain ? answer.reward : 0.0F;
  store(std::move(answer), score);
  return reward;
}

std::vector<float> Scorer::rewards(const VerifiedResponse& response) const {
  const bool training = response.ticket.purpose == Purpose::kTrain;
  std::vector<float> values;
  for (const RewardTerm& term : terms_) {
    if (training && term.check) term.check(response.ticket);
    const bool counts = term.reward && (training || term.in_evaluation);
    values.push_back(counts ? term.reward(response) : 0.0F);
  }
  return values;
}

void Scorer::finish() {
  if (verifier_) verifier_->finish();
  if (reward_) reward_->finish();
}

}  // namespace lie
