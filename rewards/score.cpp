#include "rewards/score.h"

#include <utility>

#include "common/clock.h"
#include "verifier/verify.h"

namespace lie {

Scorer::Scorer(const ScoringOptions& options)
    : options_(options),
      coverage_(options.rewards.coverage),
      terms_(reward_terms(options.rewards, options.max_response_tokens)) {}

Score Scorer::score(const Ticket& ticket, const Response& response, std::string_view text) {
  Score score;
  const Stopwatch watch;
  Verdict verdict = verify(ticket.prompt.gold, text, options_.verifier);
  score.verify_seconds = static_cast<float>(watch.seconds());
  score.verdict = verdict.code;
  score.extracted = std::move(verdict.extracted);
  score.coverage = coverage_.count(text, response.ids);
  for (const RewardTerm& term : terms_) {
    if (term.target_length) score.target_length = term.target_length(ticket);
  }
  score.rewards = rewards({ticket, response, text, score});
  return score;
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

}  // namespace lie
