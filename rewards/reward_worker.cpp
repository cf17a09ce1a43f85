#include "rewards/reward_worker.h"

#include <optional>
#include <utility>

#include "common/clock.h"
#include "verifier/verify.h"

namespace lie {

ScoredGroup score_group(Scorer& scorer, RolloutGroup group, const DecodeText& decode) {
  ScoredGroup scored;
  scored.rollout = std::move(group);
  const bool keep_texts = scorer.options().rewards.coverage.unit == CoverageUnit::kWords;
  for (const Response& response : scored.rollout.responses) {
    std::string text = decode(response.ids);
    scored.scores.push_back(scorer.score(scored.rollout.ticket, response, text));
    scored.texts.push_back(keep_texts ? std::move(text) : std::string());
  }
  return scored;
}

void run_reward_worker(const ScoringOptions& options, const DecodeText& decode, std::int32_t rank,
                       Source<RolloutGroup>& rollouts, Sink<ScoredGroup>& scored) {
  Scorer scorer(options);
  BusyIdleClock clock;
  for (;;) {
    std::optional<RolloutGroup> group = clock.waiting([&] { return rollouts.receive(); });
    if (!group) break;
    ScoredGroup result = score_group(scorer, std::move(*group), decode);
    result.reward_worker = rank;
    result.reward_clock = clock.read();
    clock.idle();
    scored.send(std::move(result));
  }
  scored.close();
  release_thread_caches();
}

}  // namespace lie
