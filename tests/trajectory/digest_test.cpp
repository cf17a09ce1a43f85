#include "common/trajectory/digest.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

std::string digest_of(
    const char* name, std::int64_t learners, std::int64_t segment_steps,
    const std::function<void(StepRecord&)>& change = [](StepRecord&) {}) {
  const auto directory = fresh_directory(name);
  for (std::int64_t start = 0; start < 6; start += segment_steps) {
    for (std::int64_t rank = 0; rank < learners; ++rank) {
      TrajectoryWriter writer(directory, example_info(rank, learners, start));
      for (std::int64_t step = start + 1; step <= start + segment_steps; ++step) {
        StepRecord record = example_step({}, step, rank, learners);
        change(record);
        writer.append(record);
      }
      writer.close();
    }
  }
  return trajectories_digest(RunReader(directory));
}

TEST(TrajectoriesDigest, DoesNotDependOnSegmentsOrLearners) {
  const std::string digest = digest_of("digest-a", 1, 6);
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(digest_of("digest-b", 1, 2), digest);
  EXPECT_EQ(digest_of("digest-c", 2, 3), digest);
  EXPECT_EQ(digest_of("digest-d", 4, 6), digest);
}

TEST(TrajectoriesDigest, DoesNotDependOnTimesAndRanks) {
  const std::string digest = digest_of("digest-e", 1, 6);
  EXPECT_EQ(digest_of("digest-f", 1, 6,
                      [](StepRecord& record) {
                        record.seconds = 99;
                        for (GroupRecord& group : record.groups) {
                          group.scored.rollout.responses[0].actor = 17;
                          group.scored.reward_worker = 18;
                          group.scored.scores[0].verify_seconds = 3;
                        }
                      }),
            digest);
}

TEST(TrajectoriesDigest, ChangesWithThePolicyVersionOfAToken) {
  const auto digest = [](const char* name, VersionRuns runs) {
    const auto directory = fresh_directory(name);
    TrajectoryInfo info = example_info();
    info.token_versions = true;
    TrajectoryWriter writer(directory, info);
    StepRecord step = example_step({}, 1);
    step.groups[1].scored.rollout.responses[2].versions = std::move(runs);
    writer.append(step);
    writer.close();
    return trajectories_digest(RunReader(directory));
  };
  const std::string first = digest("digest-v", {{0, 3}, {1, 4}});
  EXPECT_EQ(digest("digest-w", {{0, 3}, {1, 4}}), first);
  EXPECT_NE(digest("digest-x", {{0, 4}, {1, 3}}), first);
  EXPECT_NE(digest("digest-y", {{0, 3}, {2, 4}}), first);
}

TEST(TrajectoriesDigest, ChangesWithEveryKindOfContent) {
  using Change = std::function<void(GroupRecord&)>;
  const std::vector<Change> changes = {
      [](GroupRecord& g) { g.scored.rollout.responses[1].ids[0] += 1; },
      [](GroupRecord& g) { g.scored.rollout.responses[1].behavior_log_probs[0] += 1e-6F; },
      [](GroupRecord& g) { g.scored.rollout.responses[0].finish = FinishReason::kEndOfSequence; },
      [](GroupRecord& g) { g.scored.rollout.prompt_ids[0] += 1; },
      [](GroupRecord& g) { g.scored.rollout.ticket.prompt.gold.push_back('8'); },
      [](GroupRecord& g) { g.scored.scores[0].verdict = VerdictCode::kUndecided; },
      [](GroupRecord& g) { g.scored.scores[0].extracted.push_back('?'); },
      [](GroupRecord& g) { g.scored.scores[0].rewards[1] -= 1e-6F; },
      [](GroupRecord& g) { g.scored.scores[1].numbers[0].value += 1e-12; },
      [](GroupRecord& g) { g.scored.scores[0].coverage.distinct_ngrams += 1; },
      [](GroupRecord& g) { g.results[2].advantage += 1e-6F; },
      [](GroupRecord& g) { g.results[1].log_probs[0] -= 1e-6F; },
      [](GroupRecord& g) { g.results[2].mini_batch += 1; },
  };
  const std::string digest = digest_of("digest-g", 1, 6);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::string changed = digest_of("digest-h", 1, 6, [&](StepRecord& record) {
      if (record.step == 2) changes[i](record.groups[3]);
    });
    EXPECT_NE(changed, digest) << "change " << i;
  }
}

}  // namespace
}  // namespace lie
