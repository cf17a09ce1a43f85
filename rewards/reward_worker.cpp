#include "rewards/reward_worker.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "rewards/budgets.h"
#include "verifier/verify.h"

namespace lie {

namespace {

ScoredGroup score_responses(Scorer& scorer, RolloutGroup group, const DecodeText& decode,
                            std::span<const std::size_t> samples = {}) {
  ScoredGroup scored;
  scored.rollout = std::move(group);
  const std::vector<Response>& responses = scored.rollout.responses;
  for (const Response& response : responses) scored.texts.push_back(decode(response.ids));
  scored.scores = scorer.score(scored.rollout.ticket, responses, scored.texts, samples);
  const ScoringOptions& options = scorer.options();
  if (!counts_words(options.rewards.coverage, options.metric_coverage)) {
    scored.texts.assign(responses.size(), "");
  }
  return scored;
}

void add_correct_within(ScoredGroup& group, std::int64_t budget, Scorer& scorer,
                        const DecodeText& decode) {
  const auto score = [&](RolloutGroup cut, std::span<const std::size_t> samples) {
    return score_responses(scorer, std::move(cut), decode, samples).scores;
  };
  const std::vector<char> correct = correct_within(group, budget, score);
  const std::string name = fmt::format("correct_at_{}", budget);
  for (std::size_t i = 0; i < correct.size(); ++i) {
    group.scores[i].numbers.push_back({name, correct[i] != 0 ? 1.0 : 0.0});
  }
}

}  // namespace

ScoredGroup score_group(Scorer& scorer, RolloutGroup group, const DecodeText& decode,
                        std::span<const std::size_t> samples) {
  ScoredGroup scored = score_responses(scorer, std::move(group), decode, samples);
  if (scored.rollout.ticket.purpose != Purpose::kEvaluate) return scored;
  for (const std::int64_t budget : scorer.options().budgets.budgets) {
    add_correct_within(scored, budget, scorer, decode);
  }
  return scored;
}

void run_reward_worker(const ScoringOptions& options, const DecodeText& decode,
                       const RewardTransport& transport) {
  Scorer scorer(options, {.rank = transport.rank, .poll_progress = transport.poll_progress});
  BusyIdleClock clock;
  for (;;) {
    std::optional<RolloutGroup> group = clock.waiting([&] { return transport.rollouts.receive(); });
    if (!group) break;
    ScoredGroup result = score_group(scorer, std::move(*group), decode);
    result.reward_worker = transport.rank;
    result.reward_clock = clock.read();
    clock.idle();
    transport.scored.send(std::move(result));
  }
  scorer.finish();
  transport.scored.close();
  release_thread_caches();
}

}  // namespace lie
