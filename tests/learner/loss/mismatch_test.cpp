// Weights and masks for responses that sampler and learner rate differently.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "learner/loss/off_policy_mask.h"
#include "learner/loss/policy_loss.h"
#include "learner/loss/tis.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

/// Returns the weights of three tokens whose old log-probs are 1 below, equal to and 2 above those
/// of the sampler.
std::vector<TisWeight> weights_of(const TisOptions& options) {
  const std::vector<float> behavior = {-2, -2, -4}, old = {-3, -2, -2};
  SequenceInput input;
  input.log_probs = input.old_log_probs = old;
  input.behavior_log_probs = behavior;
  return tis_weights(options, input);
}

TEST(Mismatch, IcePopKeepsWeightsBetweenTwoBoundsAndMasksOthers) {
  const auto weights = weights_of({.tis_cap = 5, .tis_floor = 0.5, .tis_beyond = BeyondCap::kMask});
  EXPECT_EQ(weights[0].value, 0);
  EXPECT_TRUE(weights[0].below);
  EXPECT_FALSE(weights[0].truncated);
  EXPECT_EQ(weights[1].value, 1);
  EXPECT_FALSE(weights[1].below || weights[1].truncated);
  EXPECT_EQ(weights[2].value, 0);
  EXPECT_TRUE(weights[2].truncated);
  EXPECT_NEAR(weights_of({.tis_cap = 8, .tis_beyond = BeyondCap::kMask})[2].value, std::exp(2.0),
              1e-12);
}

TEST(Mismatch, TruncationUsesTheBoundThatIsExceeded) {
  const auto weights = weights_of({.tis_cap = 5, .tis_floor = 0.5});
  EXPECT_EQ(weights[0].value, 0.5);
  EXPECT_EQ(weights[2].value, 5);
}

TEST(Mismatch, AFloorAppliesToTheJointWeightOfAResponse) {
  for (const TisWeight& weight :
       weights_of({.tis_cap = 9, .tis_floor = 0.5, .tis_level = TisLevel::kSequence})) {
    EXPECT_NEAR(weight.value, std::exp(1.0), 1e-12);
    EXPECT_FALSE(weight.below);
  }
}

TEST(Mismatch, AFloorThatContradictsTheCapIsRefused) {
  const auto error_with = [](const TisOptions& tis) {
    PolicyLossOptions options;
    options.recompute_old_log_probs = true;
    static_cast<TisOptions&>(options) = tis;
    return error_of([&] { check_options(options); });
  };
  EXPECT_EQ(error_with({.tis_cap = 5, .tis_floor = 0.5}), "no error");
  EXPECT_NE(error_with({.tis_floor = 0.5}).find("policy_loss.tis_cap is 0"), std::string::npos);
  EXPECT_NE(error_with({.tis_cap = 0.5}).find("below 1, the weight of equal log-probs, it would"),
            std::string::npos);
  EXPECT_NE(error_with({.tis_cap = 5, .tis_floor = 1}).find("must be below 1"), std::string::npos);
}

struct MaskedLoss {
  PolicyLossStats stats;
  std::vector<float> slopes = std::vector<float>(2), of_entropies = std::vector<float>(2);
};

/// Computes the loss of a response whose log-probs have fallen by 0.25 nats per token in the mean.
MaskedLoss loss_with(double delta, double advantage) {
  const std::vector<float> behavior = {-1, -2}, now = {-1.5F, -2}, entropies = {1, 1};
  PolicyLossOptions options;
  options.algorithm = "grpo";
  options.of<ClipOptions>().clip_low = 1;
  options.entropy_coefficient = 0.5;
  options.off_policy_mask.delta = delta;
  SequenceInput input{now, behavior, behavior, {}, entropies};
  input.advantage = advantage;
  input.weight = 1;
  MaskedLoss result;
  policy_loss(options, input, result.slopes, result.of_entropies, result.stats);
  return result;
}

TEST(Mismatch, OffPolicyMaskRemovesIncorrectResponsesThatThePolicyHasLeft) {
  const MaskedLoss masked = loss_with(0.2, -1);
  EXPECT_EQ(masked.slopes, (std::vector<float>{0, 0}));
  EXPECT_EQ(masked.stats.policy_loss, 0);
  EXPECT_EQ(masked.stats.off_policy_masked, 2);
  EXPECT_EQ(masked.stats.entropy_loss, -1) << "other terms of the loss stay";
  EXPECT_EQ(masked.of_entropies, (std::vector<float>{-0.5F, -0.5F}));
}

TEST(Mismatch, OffPolicyMaskKeepsOtherResponses) {
  for (const MaskedLoss& kept : {loss_with(0.2, 1), loss_with(0.25, -1), loss_with(0, -1)}) {
    EXPECT_EQ(kept.stats.off_policy_masked, 0);
    EXPECT_NE(kept.slopes[0], 0);
  }
}

}  // namespace
}  // namespace lie
