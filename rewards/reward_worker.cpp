#include "rewards/reward_worker.h"

#include <optional>
#include <utility>

#include "common/clock.h"
#include "verifier/verify.h"

namespace lie {

ScoredGroup score_group(Scorer& scorer, RolloutGroup group, const DecodeText& decode) {
  ScoredGroup scored;
  scored.rollout = std::move(group);
  const std::vector<Response>& responses = scored.rollout.responses;
  for (const Response& response : responses) scored.texts.push_back(decode(response.ids));
  scored.scores = scorer.score(scored.rollout.ticket, responses, scored.texts);
  const ScoringOptions& options = scorer.options();
  if (!counts_words(options.rewards.coverage, options.metric_coverage)) {
    scored.texts.assign(responses.size(), "");
  }
  return scored;
}

void run_reward_worker(const ScoringOptions& options, const DecodeText& decode,
                       const ProgramHost& host, Source<RolloutGroup>& rollouts,
                       Sink<ScoredGroup>& scored) {
  Scorer scorer(options, host);
  BusyIdleClock clock;
  for (;;) {
    std::optional<RolloutGroup> group = clock.waiting([&] { return rollouts.receive(); });
    if (!group) break;
    ScoredGroup result = score_group(scorer, std::move(*group), decode);
    result.reward_worker = host.rank;
    result.reward_clock = clock.read();
    clock.idle();
    scored.send(std::move(result));
  }
  scorer.finish();
  scored.close();
  release_thread_caches();
}

}  // namespace lie
