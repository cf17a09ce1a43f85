// Compares every term at its boundaries and next to them with values computed by hand.
#include <gtest/gtest.h>

#include <string>

#include "common/base/error.h"
#include "rewards/term/accuracy.h"
#include "rewards/term/coverage_bonus.h"
#include "rewards/term/length.h"
#include "rewards/term/overlong.h"
#include "rewards/term/redundancy.h"
#include "rewards/terms.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

TEST(AccuracyReward, OnlyAcceptedAnswersAreRewarded) {
  const auto reward = [](VerdictCode code) {
    Score score;
    score.verdict = code;
    return reward_term(AccuracyRewardOptions(), 8192).reward({Ticket(), Response(), "", score});
  };
  EXPECT_EQ(reward(VerdictCode::kEqual), 1.0F);
  for (const VerdictCode code :
       {VerdictCode::kUnequal, VerdictCode::kNoAnswer, VerdictCode::kUnparsableAnswer,
        VerdictCode::kUnparsableGold, VerdictCode::kOutOfBudget, VerdictCode::kUndecided,
        VerdictCode::kCopied}) {
    EXPECT_EQ(reward(code), 0.0F);
  }
}

TEST(LengthReward, TargetIsReferencePlusDelta) {
  EXPECT_EQ(target_length({}, 1500, 8192), 2000);
  EXPECT_EQ(target_length({.delta_tokens = 8000}, 1500, 8192), 9500);
}

TEST(LengthReward, TargetsAboveTheLimitAreCappedOnlyOnRequest) {
  EXPECT_EQ(target_length({}, 8000, 8192), 8500);
  EXPECT_EQ(target_length({.cap_target_at_limit = true}, 8000, 8192), 8192);
  EXPECT_EQ(target_length({.cap_target_at_limit = true}, 7692, 8192), 8192);
  EXPECT_EQ(target_length({.cap_target_at_limit = true}, 7691, 8192), 8191);
}

TEST(LengthReward, AbsoluteTargetIsTheSameForEveryPrompt) {
  // The published "8k": 500 tokens below a limit of 8192. 7692 - 1692 = 6000 tokens are missing.
  const LengthRewardOptions options{.target = LengthTarget::kAbsolute, .target_tokens = 7692};
  for (const double reference : {-1.0, 0.0, 1500.0, 8000.0}) {
    EXPECT_EQ(target_length(options, reference, 8192), 7692);
  }
  EXPECT_FLOAT_EQ(length_reward(options, false, 1692, 7692, -1), -0.2F);
  EXPECT_EQ(length_reward(options, false, 7692, 7692, -1), 0.0F);
  EXPECT_EQ(
      target_length({.target = LengthTarget::kAbsolute, .cap_target_at_limit = true}, -1, 4096),
      4096);
}

TEST(LengthReward, AppliesOnlyInItsBandOfGroupAccuracy) {
  for (const double accuracy : {0.0, 0.5, 1.0}) EXPECT_TRUE(applies_at({}, accuracy));
  const RewardGate gate{.min_group_accuracy = 0.125, .max_group_accuracy = 0.5};
  EXPECT_FALSE(applies_at(gate, 0.0));
  EXPECT_TRUE(applies_at(gate, 0.125));
  EXPECT_TRUE(applies_at(gate, 0.5));
  EXPECT_FALSE(applies_at(gate, 0.625));
  const RewardGate closed{.min_group_accuracy = 0.5, .max_group_accuracy = 0.4};
  EXPECT_THROW(reward_term(LengthRewardOptions{.gate = closed}, 8192), Error);
  EXPECT_THROW(reward_term(RedundancyRewardOptions{.gate = closed}, 8192), Error);
}

TEST(LengthReward, AppliesToTheVerdictsThatAreChosen) {
  const auto reward = [](Answers answers, bool correct) {
    return length_reward({.eta = 0.5, .gate = {.answers = answers}}, correct, 10, 12, 0);
  };
  EXPECT_EQ(reward(Answers::kIncorrect, true), 0);
  EXPECT_EQ(reward(Answers::kIncorrect, false), -1);
  EXPECT_EQ(reward(Answers::kAny, true), -1);
  EXPECT_EQ(reward(Answers::kCorrect, true), -1);
  EXPECT_EQ(reward(Answers::kCorrect, false), 0);
}

TEST(RedundancyReward, AppliesOnlyWithinItsGate) {
  const auto reward = [](const RewardGate& gate, bool correct, double accuracy) {
    Score score;
    score.coverage.largest_repeat = 10;
    if (correct) score.verdict = VerdictCode::kEqual;
    const RewardTerm term = reward_term(RedundancyRewardOptions{.beta = 0.5, .gate = gate}, 8192);
    return term.reward({Ticket(), Response(), "", score, accuracy});
  };
  EXPECT_EQ(reward({}, true, 0), -0.5F);
  EXPECT_EQ(reward({.answers = Answers::kIncorrect}, true, 0.5), 0);
  EXPECT_EQ(reward({.answers = Answers::kIncorrect}, false, 0.5), -0.5F);
  EXPECT_EQ(reward({.min_group_accuracy = 0.25}, false, 0), 0);
  EXPECT_EQ(reward({.min_group_accuracy = 0.25}, false, 0.25), -0.5F);
}

TEST(Gr3Reward, GroupsHaveThePublishedAdvantages) {
  const std::vector<std::int64_t> lengths = {100, 200, 300, 150};
  std::vector<double> totals;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool correct = i < 3;
    totals.push_back((correct ? 1 : 0) +
                     static_cast<double>(gr3_reward({}, correct, lengths[i], 187.5)));
  }
  const double mean = (totals[0] + totals[1] + totals[2] + totals[3]) / 4;
  const std::vector<double> expected = {0.2892, 0.1785, 0.0933, -0.5611};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(totals[i] - mean, expected[i], 5e-5) << i;
  EXPECT_EQ(gr3_reward({}, true, 0, 0), 0);
  EXPECT_EQ(gr3_reward({.alpha = 0}, true, 7, 3), 0);
  EXPECT_EQ(gr3_reward({.alpha = 1}, true, 5, 5), -0.5F) << "a group of one";
}

TEST(CosineReward, RunsFromTheValueAtLengthZeroToThatAtTheLimit) {
  const auto total = [](bool correct, std::int64_t length, const CosineRewardOptions& options = {},
                        bool cut = false) {
    return (correct ? 1.0F : 0.0F) + cosine_reward(options, correct, cut, length, 100);
  };
  EXPECT_FLOAT_EQ(total(true, 0), 1);
  EXPECT_FLOAT_EQ(total(true, 50), 0.75);
  EXPECT_FLOAT_EQ(total(true, 100), 0.5);
  EXPECT_FLOAT_EQ(total(true, 130), 0.5) << "as at the limit";
  EXPECT_FLOAT_EQ(total(false, 0), -1);
  EXPECT_FLOAT_EQ(total(false, 50), -0.75);
  EXPECT_FLOAT_EQ(total(false, 100), -0.5);
  EXPECT_FLOAT_EQ(total(true, 25), 0.92677670F);
  EXPECT_FLOAT_EQ(total(false, 100, {.cut_penalty = 10}, true), -10);
  EXPECT_FLOAT_EQ(total(true, 100, {.cut_penalty = 10}, true), -10);
  EXPECT_FLOAT_EQ(total(false, 100, {.cut_penalty = 10}), -0.5);
}

// By hand from the papers' equations.
TEST(KimiReward, RanksCorrectAnswersByLengthWithinTheGroup) {
  const KimiRewardOptions whole{.weight = 1};
  EXPECT_FLOAT_EQ(kimi_reward(whole, true, 100, 100, 300), 0.5F);
  EXPECT_FLOAT_EQ(kimi_reward(whole, true, 150, 100, 300), 0.25F);
  EXPECT_FLOAT_EQ(kimi_reward(whole, true, 300, 100, 300), -0.5F);
  EXPECT_FLOAT_EQ(kimi_reward(whole, false, 100, 100, 300), 0.0F);
  EXPECT_FLOAT_EQ(kimi_reward(whole, false, 250, 100, 300), -0.25F);
  EXPECT_FLOAT_EQ(kimi_reward({}, true, 100, 100, 300), 0.2F);
  EXPECT_EQ(kimi_reward(whole, true, 100, 100, 100), 0.0F) << "equal lengths";
}

TEST(L1Reward, IsTheDistanceFromTheTargetOrAClippedRamp) {
  const L1RewardOptions exact{.target_tokens = 1000};
  EXPECT_FLOAT_EQ(l1_reward(exact, true, 1000), 0);
  EXPECT_FLOAT_EQ(l1_reward(exact, true, 600), -0.12F);
  EXPECT_FLOAT_EQ(l1_reward(exact, false, 1400), -0.12F);
  const L1RewardOptions max{.form = L1Form::kMax, .target_tokens = 1000};
  const auto total = [&](bool correct, std::int64_t length) {
    return (correct ? 1.0F : 0.0F) + l1_reward(max, correct, length);
  };
  EXPECT_FLOAT_EQ(total(true, 1000), 0.5F);
  EXPECT_FLOAT_EQ(total(true, 0), 0.8F);
  EXPECT_FLOAT_EQ(total(true, 2000), 0.2F);
  EXPECT_FLOAT_EQ(total(true, 3000), 0.0F) << "clipped";
  EXPECT_FLOAT_EQ(total(false, 10), 0.0F);
}

TEST(Terms, ThoseOfOtherMethodsHaveAColumnOnlyIfTheyAreOn) {
  RewardOptions options;
  EXPECT_EQ(reward_names(options).size(), 5U);
  EXPECT_EQ(terms_on(options), (std::vector<std::string>{"accuracy", "length", "redundancy"}));
  options.of<CosineRewardOptions>().enabled = true;
  EXPECT_EQ(reward_names(options).back().name, "cosine");
  EXPECT_EQ(reward_terms(options, 100).size(), 6U);
  EXPECT_EQ(reward_cautions(options).size(), 6U);
  EXPECT_EQ(terms_on(options).back(), "cosine");
}

TEST(Terms, OnlyOneMayReplaceTheAccuracy) {
  RewardOptions options;
  options.of<Gr3Options>().enabled = true;
  options.of<L1RewardOptions>().enabled = true;
  EXPECT_EQ(replacing_term(options), "gr3") << "L1 exact is a penalty";
  options.of<CosineRewardOptions>().enabled = true;
  EXPECT_EQ(error_of([&] { replacing_term(options); }),
            "reward.gr3.enabled and reward.cosine.enabled: each replaces the reward of a correct "
            "answer by its own; set one of them to false");
  options.of<Gr3Options>().enabled = false;
  options.of<L1RewardOptions>().form = L1Form::kMax;
  EXPECT_NE(error_of([&] { replacing_term(options); }), "no error");
}

TEST(Terms, ThePresetOfThePaperKeepsItsRatioOfPenaltiesToAccuracy) {
  RewardOptions options;
  auto& length = options.of<LengthRewardOptions>();
  length.delta_tokens = 75, length.eta = 0.01;
  options.of<RedundancyRewardOptions>().beta = 0.5;
  apply_preset(options);
  EXPECT_EQ(length.eta, 0.01) << "no preset";
  options.preset = RewardPreset::kPaper;
  apply_preset(options);
  EXPECT_NEAR(75 * length.eta, 500 * 0.3 / 9000, 1e-15);
  EXPECT_EQ(options.of<RedundancyRewardOptions>().beta, 0.6);
  const double eta = length.eta;
  apply_preset(options);
  EXPECT_EQ(length.eta, eta) << "a stored config is read again";
  length.delta_tokens = 500;
  apply_preset(options);
  EXPECT_EQ(length.eta, LengthRewardOptions{}.eta) << "bit for bit";
  length.target = LengthTarget::kAbsolute;
  EXPECT_THROW(apply_preset(options), Error);
  length.enabled = false;
  apply_preset(options);
}

TEST(LengthReward, IncorrectAnswersArePenalizedPerMissingToken) {
  const LengthRewardOptions options;
  EXPECT_EQ(length_reward(options, false, 2000, 2000, 1500), 0.0F);
  EXPECT_EQ(length_reward(options, false, 2001, 2000, 1500), 0.0F);
  EXPECT_FLOAT_EQ(length_reward(options, false, 1999, 2000, 1500), -0.3F / 9000);
  EXPECT_FLOAT_EQ(length_reward(options, false, 1100, 2000, 1500), -0.03F);
  EXPECT_FLOAT_EQ(length_reward(options, false, 500, 9500, 9000), -0.3F);
}

TEST(LengthReward, IsNotClamped) {
  EXPECT_FLOAT_EQ(length_reward({}, false, 0, 90000, 89500), -3.0F);
}

TEST(LengthReward, CorrectAnswersAreNeverPenalized) {
  EXPECT_EQ(length_reward({}, true, 1, 9500, 9000), 0.0F);
}

TEST(LengthReward, ScaledEtaFollowsThePublishedCode) {
  // num_tokens = L_ref + 1000 = 2000, so eta grows by 1 + 500 / 2000 = 1.25; 600 tokens are
  // missing.
  const LengthRewardOptions options{.eta = 1e-4, .scale_eta = true};
  EXPECT_FLOAT_EQ(length_reward(options, false, 900, 1500, 1000), -0.075F);
  const LengthRewardOptions llama{.eta = 1e-4, .scale_eta = true, .scale_extra_tokens = 1000};
  EXPECT_FLOAT_EQ(length_reward(llama, false, 900, 1500, 1000), -0.09F);
}

TEST(RedundancyReward, PenalizesFromThetaOccurrencesOn) {
  EXPECT_EQ(redundancy_reward({}, 9), 0.0F);
  EXPECT_EQ(redundancy_reward({}, 10), -0.6F);
  EXPECT_EQ(redundancy_reward({}, 1000), -0.6F);
  EXPECT_EQ(redundancy_reward({}, 0), 0.0F);
}

TEST(RedundancyReward, StrictModePenalizesAboveThetaOccurrences) {
  const RedundancyRewardOptions options{.beta = 0.36, .threshold = 6, .strict = true};
  EXPECT_EQ(redundancy_reward(options, 6), 0.0F);
  EXPECT_EQ(redundancy_reward(options, 7), -0.36F);
}

TEST(CoverageBonus, RewardsIncorrectAnswersPerDistinctNgram) {
  const CoverageBonusOptions options{.enabled = true};
  EXPECT_FLOAT_EQ(coverage_bonus(options, false, 9000), 0.3F);
  EXPECT_EQ(coverage_bonus(options, false, 0), 0.0F);
  EXPECT_EQ(coverage_bonus(options, true, 9000), 0.0F);
}

TEST(OverlongPenalty, GrowsLinearlyOverTheBuffer) {
  const OverlongPenaltyOptions options{.enabled = true};
  EXPECT_EQ(overlong_penalty(options, 1, 20480), 0.0F);
  EXPECT_EQ(overlong_penalty(options, 16384, 20480), 0.0F);
  EXPECT_FLOAT_EQ(overlong_penalty(options, 16385, 20480), -1.0F / 4096);
  EXPECT_EQ(overlong_penalty(options, 18432, 20480), -0.5F);
  EXPECT_EQ(overlong_penalty(options, 20480, 20480), -1.0F);
  EXPECT_EQ(overlong_penalty(options, 20481, 20480), -1.0F);
}

TEST(OverlongPenalty, RefusesBuffersLongerThanTheLimit) {
  try {
    reward_term(OverlongPenaltyOptions{.buffer_tokens = 100}, 99);  // off, as by default
    reward_term(OverlongPenaltyOptions{.enabled = true, .buffer_tokens = 99}, 99);
    reward_term(OverlongPenaltyOptions{.enabled = true, .buffer_tokens = 100}, 99);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("buffer_tokens"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lie
