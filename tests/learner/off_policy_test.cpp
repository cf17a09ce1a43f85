#include "learner/off_policy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lie {
namespace {

/// A group of responses of two tokens, log weights as given.
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
      update.responses[0].push_back({.learner_log_probs = {-1 + half, -2 + half}});
    }
  }
  double share() const { return effective_sample_share(groups, update); }
};

TEST(EffectiveSampleShare, IsOneOnPolicyAndForAnyCommonFactor) {
  EXPECT_EQ(Step({0, 0, 0}).share(), 1);
  EXPECT_NEAR(Step({-2, -2, -2}).share(), 1, 1e-12);
}

TEST(EffectiveSampleShare, IsKongsFormula) {
  // Weights 1, 2, 4: 7^2 / (3 * 21).
  EXPECT_NEAR(Step({0, std::log(2), std::log(4)}).share(), 49.0 / 63, 1e-6);
}

TEST(EffectiveSampleShare, OfOneHeavyResponseIsOneOfAll) {
  EXPECT_NEAR(Step({0, 2000, 0, 0}).share(), 0.25, 1e-12);
}

TEST(EffectiveSampleShare, DoesNotExistWithoutResponses) {
  EXPECT_TRUE(std::isnan(effective_sample_share({}, {})));
}

}  // namespace
}  // namespace lie
