// Tests the reward worker's loop over in-process streams.
#include "rewards/reward_worker.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/base/stream.h"

namespace lie {
namespace {

// Token id 10 + d is the answer d.
std::string decode(std::span<const std::int32_t> ids) {
  std::string text;
  for (const std::int32_t id : ids) text += "\\boxed{" + std::to_string(id - 10) + "} ";
  return text;
}

RolloutGroup group(std::int64_t problem, const std::vector<std::int32_t>& answers) {
  RolloutGroup group;
  group.ticket.prompt.problem = problem;
  group.ticket.prompt.gold = std::string("4");
  group.ticket.prompt.reference_length = 8;
  for (const std::int32_t answer : answers) group.responses.emplace_back().ids = {answer};
  return group;
}

TEST(RewardWorker, ScoresEveryResponseInOrderAndClosesItsStream) {
  BoundedQueue<RolloutGroup> rollouts(8);
  BoundedQueue<ScoredGroup> scored(8);
  rollouts.send(group(0, {14, 15}));
  rollouts.send(group(1, {11, 12, 14}));
  rollouts.close();
  run_reward_worker({}, decode, {rollouts, scored, 3});

  const auto first = scored.receive();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rollout.ticket.prompt.problem, 0);
  EXPECT_EQ(first->reward_worker, 3);
  ASSERT_EQ(first->scores.size(), 2U);
  EXPECT_EQ(first->scores[0].rewards[0], 1.0F);
  EXPECT_EQ(first->scores[1].rewards[0], 0.0F);
  EXPECT_EQ(first->texts[1], "\\boxed{5} ");
  const auto second = scored.receive();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->scores.size(), 3U);
  EXPECT_GE(second->reward_clock.busy_seconds, first->reward_clock.busy_seconds);
  EXPECT_FALSE(scored.receive());
}

TEST(RewardWorker, EvaluationsAreScoredAgainWithinEachBudget) {
  ScoringOptions options;
  options.budgets.budgets = {1, 2};
  Scorer scorer(options);
  RolloutGroup rollout = group(0, {15, 14});
  rollout.responses.emplace_back().ids = {14, 15};  // correct at first, then another answer
  EXPECT_TRUE(score_group(scorer, rollout, decode).scores[0].numbers.empty()) << "training";
  rollout.ticket.purpose = Purpose::kEvaluate;
  const ScoredGroup scored = score_group(scorer, rollout, decode);
  const double expected[][2] = {{0, 0}, {1, 1}, {1, 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<NamedNumber>& numbers = scored.scores[i].numbers;
    ASSERT_EQ(numbers.size(), 2U);
    EXPECT_EQ(numbers[0].name, "correct_at_1");
    EXPECT_EQ(numbers[1].name, "correct_at_2");
    EXPECT_EQ(numbers[0].value, expected[i][0]) << i;
    EXPECT_EQ(numbers[1].value, expected[i][1]) << i;
  }
  EXPECT_EQ(scored.scores[2].verdict, VerdictCode::kUnequal) << "verdict of the full response";
}

TEST(RewardWorker, KeepsTextsOnlyIfWordsAreCounted) {
  ScoringOptions options;
  options.rewards.coverage.unit = CoverageUnit::kTokens;
  Scorer scorer(options);
  const ScoredGroup scored = score_group(scorer, group(0, {14}), decode);
  ASSERT_EQ(scored.texts.size(), 1U);
  EXPECT_EQ(scored.texts[0], "");
  EXPECT_EQ(scored.scores[0].verdict, VerdictCode::kEqual);
}

}  // namespace
}  // namespace lie
