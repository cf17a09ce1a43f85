#include "learner/advantage/group_relative.h"

#include <gtest/gtest.h>

#include "tests/learner/update/golden/golden.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

Score score_of(double accuracy, double length = 0, double redundancy = 0) {
  Score score;
  for (const double term : {accuracy, length, redundancy}) {
    score.rewards.push_back(static_cast<float>(term));
  }
  return score;
}

void expect_near(std::span<const double> actual, std::span<const double> expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
}

TEST(Advantage, AgreesWithPyTorch) {
  expect_near(normalize_rewards(golden::kRewards, {}), golden::kStandard);
  expect_near(normalize_rewards(golden::kRewards, {.normalize_by_std = false}), golden::kDrGrpo);
  expect_near(
      normalize_rewards(golden::kRewards, {.normalize_by_std = false, .leave_one_out = true}),
      golden::kLeaveOneOut);
}

TEST(Advantage, PerTermNormalizationAgreesWithPyTorch) {
  std::vector<Score> scores;
  for (std::size_t i = 0; i < std::size(golden::kTerms); i += 3) {
    scores.push_back(score_of(golden::kTerms[i], golden::kTerms[i + 1], golden::kTerms[i + 2]));
  }
  expect_near(group_advantages(scores, {.per_term = true}).values, golden::kPerTerm);
}

TEST(Advantage, OfAGroupOfOneIsItsReward) {
  const std::vector<Score> scores = {score_of(1, 0, -0.5)};
  for (const bool per_term : {false, true}) {
    const auto result = group_advantages(scores, {.per_term = per_term});
    EXPECT_EQ(result.values, std::vector<double>{0.5});
    EXPECT_EQ(result.mass[0], 1.0);
    EXPECT_EQ(result.mass[2], 0.5);
  }
}

TEST(Advantage, EqualRewardsGiveExactlyZero) {
  const std::vector<double> rewards(7, static_cast<double>(0.1F));
  for (const double a : normalize_rewards(rewards, {})) EXPECT_EQ(a, 0.0);
}

TEST(Advantage, RoundingErrorsDoNotBecomeAdvantages) {
  const std::vector<double> rewards = {0.4, 0.4 + 1e-8, 1.0F - 0.6F, 0.4};
  for (const double a : normalize_rewards(rewards, {})) EXPECT_EQ(a, 0.0);
}

TEST(Advantage, OneTokenOfLengthMakesAFullAdvantage) {
  // A known property of the method: division by std amplifies a length difference of one token.
  const double eta = 0.3 / 9000;
  const auto a = normalize_rewards(std::vector<double>{-eta, 0.0}, {});
  EXPECT_NEAR(a[1], 0.7, 0.04);
}

TEST(Advantage, MassOfATermIsItsContributionToTheAdvantages) {
  const std::vector<Score> scores = {score_of(1, 0), score_of(0, -0.5)};
  const auto result = group_advantages(scores, {.normalize_by_std = false});
  EXPECT_NEAR(result.values[0], 0.75, 1e-7);
  EXPECT_NEAR(result.mass[0], 1.0, 1e-12);
  EXPECT_NEAR(result.mass[1], 0.5, 1e-12);
  EXPECT_EQ(result.mass[2], 0.0);
}

TEST(Advantage, ATermThatIsEqualForAllResponsesHasNoMass) {
  const std::vector<Score> scores = {score_of(1, 0, -0.6), score_of(0, 0, -0.6),
                                     score_of(0, 0, -0.6)};
  EXPECT_EQ(group_advantages(scores, {}).mass[2], 0.0);
}

TEST(Advantage, RewardsThatAreNotFiniteAreRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<Score> scores = {score_of(1, 0), score_of(0, bad)};
    EXPECT_NE(error_of([&] { group_advantages(scores, {}); }).find("finite"), std::string::npos);
    EXPECT_NE(error_of([&] { group_advantages(scores, {.per_term = true}); }).find("finite"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace lie
