// Tests the comparison of logged scores with new ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "learner/advantage/group_relative.h"
#include "tools/replay/score_summary.h"

namespace lie::replay {
namespace {

using testing::Contains, testing::HasSubstr, testing::Not, testing::Pair;

constexpr auto kRight = VerdictCode::kEqual, kWrong = VerdictCode::kUnequal;

Score score_of(VerdictCode verdict, std::vector<float> rewards) {
  Score score;
  score.verdict = verdict;
  score.rewards = std::move(rewards);
  return score;
}

/// One training group of two responses, scored again with the same result.
class ScoredAgain : public testing::Test {
 protected:
  ScoredAgain() {
    group_.rollout.ticket.step = 3;
    group_.rollout.ticket.group = 4;
    group_.scores = {score_of(kRight, {1, -0.5F}), score_of(kWrong, {0, 0})};
    results_[0].advantage = 0.5F;
    logged_ = group_.scores;
  }

  ScoreDifferences compared() const {
    return differences(group_, logged_, results_, advantages_,
                       {{"accuracy", "R_acc"}, {"redundancy", "R_red"}});
  }

  ScoredGroup group_;
  std::vector<Score>& scores_ = group_.scores;
  std::vector<Score> logged_;
  std::vector<LearnerResult> results_ = std::vector<LearnerResult>(2);
  std::vector<double> advantages_ = {0.5, 0};
};

TEST_F(ScoredAgain, EqualsItselfHoweverLongTheVerdictTook) {
  scores_[0].verify_seconds = 7;
  EXPECT_EQ(compared().values, 0);
  EXPECT_EQ(compared().compared, 2);
}

TEST_F(ScoredAgain, DiffersInEveryKindOfValue) {
  scores_[1].verdict = kRight;
  scores_[1].extracted = "7";
  scores_[1].rewards = {1, -0.0F};  // other bits than 0
  scores_[1].coverage = {1, 2, 3};
  scores_[1].target_length = std::numeric_limits<double>::denorm_min();
  scores_[1].numbers = {{"c_context_10", 5}};
  advantages_[1] = 1;
  const ScoreDifferences found = compared();
  EXPECT_EQ(found.values, 10);
  EXPECT_EQ(found.responses, 1);
  EXPECT_THAT(found.first, HasSubstr("step 3, training group 4, response 1: verdict: logged "
                                     "unequal, now equal"));
}

TEST_F(ScoredAgain, DiffersInANumberThatIsGone) {
  logged_[0].numbers = {{"command_x", 2}};
  EXPECT_THAT(compared().first, HasSubstr("response 0: command_x: logged 2, now absent"));
}

TEST(OrderOfAdvantages, TurnsWhereTwoResponsesChangePlaces) {
  const auto turns = [](std::vector<double> before, std::vector<double> after) {
    return order_changes(before, after);
  };
  EXPECT_TRUE(turns({1, 0, -1}, {1, -1, 0}));
  EXPECT_FALSE(turns({1, 0, -1}, {9, 0, -0.1}));
  EXPECT_FALSE(turns({1, -1}, {0, 0})) << "a tie does not change the order";
  EXPECT_FALSE(turns({0, 0}, {1, -1}));
}

StepOutcome step_of(std::vector<Score> scores) {
  StepOutcome step;
  ScoredGroup& group = step.groups.emplace_back();
  group.rollout.responses.resize(scores.size());
  group.scores = std::move(scores);
  step.advantages = {group_advantages(group.scores, {})};
  return step;
}

TEST(ScoreTable, ShowsCoverageOfResponses) {
  Score repeated = score_of(kRight, {1});
  repeated.coverage = {.distinct_ngrams = 6, .ngrams = 8, .largest_repeat = 3};
  repeated.numbers = {{"c_context_8", 4}};
  const Metrics metrics = score_metrics(step_of({repeated, repeated}), {{"accuracy", "R_acc"}});
  for (const auto& [name, value] : {std::pair<std::string, double>("c_context_mean", 6),
                                    {"r_context_mean", 0.75},
                                    {"largest_repeat_mean", 3},
                                    {"c_context_8_mean", 4}}) {
    EXPECT_THAT(metrics, Contains(Pair(name, value)));
  }
}

TEST(ScoreTable, AStepWithoutTrainingGroupsHasNoShareOfTurnedGroups) {
  const std::vector<StepScores> steps = {{.step = 0, .evaluation_responses = 8}};
  const Json row = score_json(steps).at(0);
  EXPECT_TRUE(row.at("turned_groups_share").is_null());
  EXPECT_EQ(row.at("responses"), 0);
  EXPECT_EQ(row.at("evaluation_responses"), 8);
}

TEST(ScoreTable, ShowsTheMeanOverTheStepsOfARange) {
  const RewardNames names = {{"accuracy", "R_acc"}};
  const StepOutcome right = step_of({score_of(kRight, {1}), score_of(kRight, {1})});
  const StepOutcome mixed = step_of({score_of(kRight, {1}), score_of(kWrong, {0})});
  std::vector<StepScores> steps;
  for (std::int64_t step = 1; step <= 7; ++step) {
    steps.push_back({.step = step,
                     .groups = 1,
                     .logged = score_metrics(mixed, names),
                     .now = score_metrics(step == 7 ? mixed : right, names)});
  }
  steps.back().turned_groups = 1;
  const std::string table = score_table(steps);
  EXPECT_THAT(table, HasSubstr("     6-7\n")) << "seven steps in five columns";
  EXPECT_THAT(table, HasSubstr("groups_all_correct_share        logged   0.0000"));
  EXPECT_THAT(table, HasSubstr("now      1.0000  1.0000  1.0000  1.0000  0.7500")) << "accuracy";
  EXPECT_THAT(table, HasSubstr("turned_groups_share                      0.0000  0.0000  0.0000  "
                               "0.0000  0.5000"));
  EXPECT_THAT(table, Not(HasSubstr("response_length"))) << "depends on no score";
  const Json rows = score_json(steps);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[6].at("turned_groups_share"), 1);
  EXPECT_EQ(rows[0].at("logged").at("accuracy"), 0.5);
  EXPECT_EQ(rows[0].at("logged").at("advantage_mass_accuracy"), 1);
  EXPECT_EQ(rows[0].at("now").at("advantage_mass_accuracy"), 0) << "equal rewards have no mass";
}

}  // namespace
}  // namespace lie::replay
