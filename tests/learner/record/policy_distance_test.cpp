#include "learner/record/policy_distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lie {
namespace {

/// One group of responses of two tokens with the given log weights.
struct Step {
  std::vector<ScoredGroup> groups{1};
  StepUpdate update;

  explicit Step(const std::vector<double>& log_weights) {
    update.responses.emplace_back();
    for (const double log_weight : log_weights) {
      Response response;
      response.ids = {1, 2};
      response.behavior_log_probs = {-1, -2};
      groups[0].rollout.responses.push_back(response);
      const auto half = static_cast<float>(log_weight / 2);
      update.responses[0].push_back({.log_probs = {-1 + half, -2 + half}, .mini_batch = 0});
    }
  }
  double share() const { return effective_sample_share(groups, update); }
};

TEST(EffectiveSampleShare, IsOneIfAllWeightsAreEqual) {
  EXPECT_EQ(Step({0, 0, 0}).share(), 1);
  EXPECT_NEAR(Step({-2, -2, -2}).share(), 1, 1e-12);
}

TEST(EffectiveSampleShare, FollowsKongsFormula) {
  // Weights 1, 2, 4: 7^2 / (3 * 21).
  EXPECT_NEAR(Step({0, std::log(2), std::log(4)}).share(), 49.0 / 63, 1e-6);
}

TEST(EffectiveSampleShare, IsOneOverTheNumberIfOneResponseHasAllTheWeight) {
  EXPECT_NEAR(Step({0, 2000, 0, 0}).share(), 0.25, 1e-12);
}

TEST(EffectiveSampleShare, IsNanWithoutResponses) {
  EXPECT_TRUE(std::isnan(effective_sample_share({}, {})));
}

TEST(LogProbDifference, IsExactlyZeroIfSamplerAndLearnerAgree) {
  const Step step({0, 0});
  EXPECT_EQ(log_prob_difference(step.groups, step.update).mean, 0);
  EXPECT_EQ(log_prob_difference(step.groups, step.update).sequence_max, 0);
}

TEST(LogProbDifference, HasTheMeanOverTokensAndTheLargestMeanOfAResponse) {
  Step step({1, -3, 8});
  step.update.responses[0][0].log_probs = {-0.5F, -2.5F};  // cancels in its mean
  step.update.responses[0][2].mini_batch = 1;              // not in the first mini-batch
  const LogProbDifference difference = log_prob_difference(step.groups, step.update);
  EXPECT_EQ(difference.mean, (0.5 + 0.5 + 1.5 + 1.5) / 4);
  EXPECT_EQ(difference.sequence_max, 1.5);
}

TEST(LogProbDifference, KeepsAResponseThatIsNotANumber) {
  Step step({1, -3, 8});
  step.update.responses[0][0].log_probs[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(log_prob_difference(step.groups, step.update).sequence_max));
}

TEST(LogProbDifference, IsNanWithoutResponses) {
  EXPECT_TRUE(std::isnan(log_prob_difference({}, {}).mean));
  EXPECT_TRUE(std::isnan(log_prob_difference({}, {}).sequence_max));
}

}  // namespace
}  // namespace lie
