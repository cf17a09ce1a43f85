#include "learner/loss/surrogate/surrogates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "learner/loss/policy_loss.h"
#include "tests/learner/loss/golden/surrogates.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

SurrogateOptions surrogate_options(const std::vector<std::string>& settings) {
  SurrogateOptions options;
  FieldList fields;
  describe(fields, options);
  set_config(fields, settings);
  return options;
}

std::string surrogate_error(const std::vector<std::string>& settings) {
  return error_of([&] { check_options(surrogate_options(settings)); });
}

PolicyLossOptions loss_options(const std::vector<std::string>& settings) {
  PolicyLossOptions options;
  FieldList fields;
  describe(fields, options);
  set_config(fields, settings);
  return options;
}

/// Returns the responses of a golden mini-batch. The i-th has the i-th advantage.
std::vector<golden::SurrogateResponse> golden_responses(const std::vector<std::string>& settings) {
  std::vector<golden::SurrogateResponse> of_settings;
  for (const golden::SurrogateResponse& response : golden::kSurrogateResponses) {
    if (response.settings == settings) of_settings.push_back(response);
  }
  return {of_settings.at(0), of_settings.at(4), of_settings.at(8)};
}

/// Returns the losses of a response with these log-ratios at the chosen level.
std::vector<TokenLoss> losses(const SurrogateOptions& options, const std::vector<double>& d,
                              double advantage) {
  const std::vector<Ratio> ratios = importance_ratios(ratio_level(options), d);
  SequenceInput sequence;
  sequence.advantage = advantage;
  std::vector<TokenLoss> result(d.size());
  chosen_surrogate(options).losses({sequence, d, ratios}, result);
  return result;
}

TEST(Surrogates, AnAlgorithmIsAShortFormForSurrogateAndLevel) {
  EXPECT_EQ(ratio_level(surrogate_options({"algorithm=grpo"})), RatioLevel::kToken);
  EXPECT_EQ(ratio_level(surrogate_options({"algorithm=gspo"})), RatioLevel::kSequence);
  EXPECT_EQ(ratio_level(surrogate_options({})), RatioLevel::kSequence) << "the default is gspo";
}

TEST(Surrogates, CustomChoosesLevelAndSurrogateApart) {
  const std::vector<double> d = {0.3, -0.1, 0.1};
  for (const auto& [level, algorithm] : {std::pair{"token", "grpo"}, {"sequence", "gspo"}}) {
    const auto named = losses(surrogate_options({std::string("algorithm=") + algorithm}), d, 1);
    const auto custom = losses(surrogate_options({"algorithm=custom", "surrogate=clip",
                                                  std::string("ratio_level=") + level}),
                               d, 1);
    for (std::size_t t = 0; t < d.size(); ++t) {
      EXPECT_EQ(custom[t].loss, named[t].loss);
      EXPECT_EQ(custom[t].slope, named[t].slope);
      EXPECT_EQ(custom[t].bound, named[t].bound);
    }
  }
}

TEST(Surrogates, ContradictionsAreRefusedWithTheKey) {
  EXPECT_EQ(surrogate_error({"algorithm=grpo", "ratio_level=token", "surrogate=clip"}), "no error");
  EXPECT_EQ(surrogate_error({"ratio_level=token"}),
            "policy_loss.ratio_level is token, but policy_loss.algorithm gspo means sequence; set "
            "policy_loss.ratio_level to auto or sequence, or policy_loss.algorithm to custom");
  EXPECT_EQ(surrogate_error({"algorithm=custom", "surrogate=clip"}),
            "policy_loss.algorithm is custom: set both policy_loss.ratio_level and "
            "policy_loss.surrogate, which it leaves open; they are auto and clip");
  EXPECT_NE(surrogate_error({"algorithm=custom", "ratio_level=token"}), "no error");
  EXPECT_NE(surrogate_error({"algorithm=ppo"}).find("expected one of grpo, gspo, luspo"),
            std::string::npos);
}

TEST(Surrogates, ClipRangesDependOnTheLevel) {
  EXPECT_EQ(chosen_surrogate(surrogate_options({"algorithm=grpo"})).range_above, 0.2);
  EXPECT_EQ(chosen_surrogate(surrogate_options({"algorithm=gspo"})).range_above, 4e-4);
  EXPECT_EQ(chosen_surrogate(surrogate_options({"algorithm=luspo"})).range_above, 2.5e-3);
  EXPECT_EQ(chosen_surrogate(surrogate_options({"clip_high=0.3"})).range_above, 0.3);
}

TEST(Surrogates, ClippedLossMatchesHandComputedValues) {
  const auto expect = [](const TokenLoss& found, double loss, double slope, Bound bound) {
    EXPECT_NEAR(found.loss, loss, 1e-15);
    EXPECT_NEAR(found.slope, slope, 1e-15);
    EXPECT_EQ(found.bound, bound);
  };
  expect(clipped_loss({1.5, 1.5}, 2, 0.2, 0.25, 0), -2.5, 0, Bound::kHigh);
  expect(clipped_loss({1.25, 1.25}, 2, 0.2, 0.25, 0), -2.5, -2.5, Bound::kNone);  // at the bound
  expect(clipped_loss({0.5, 0.5}, 2, 0.2, 0.25, 0), -1, -1, Bound::kNone);
  expect(clipped_loss({0.5, 0.5}, -2, 0.2, 0.25, 0), 1.6, 0, Bound::kLow);
  expect(clipped_loss({1.5, 1.5}, -2, 0.2, 0.25, 0), 3, 3, Bound::kNone);
  expect(clipped_loss({4, 4}, -2, 0.2, 0.25, 3), 6, 0, Bound::kDual);
  expect(clipped_loss({4, 4}, 0, 0.2, 0.25, 3), 0, 0, Bound::kNone);
}

void expect_near_share(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-12 * std::max(1.0, std::abs(expected)));
}

TEST(Surrogates, TokenLossesAndSlopesAgreeWithNumPy) {
  for (const golden::SurrogateResponse& expected : golden::kSurrogateResponses) {
    SCOPED_TRACE(testing::PrintToString(expected.settings));
    const PolicyLossOptions options = loss_options(expected.settings);
    const std::vector<double> d = log_ratios(expected.log_probs, expected.old_log_probs);
    const std::vector<Ratio> ratios = importance_ratios(ratio_level(options), d);
    SequenceInput sequence;
    sequence.log_probs = expected.log_probs;
    sequence.old_log_probs = expected.old_log_probs;
    sequence.advantage = expected.advantage;
    std::vector<TokenLoss> found(d.size());
    chosen_surrogate(options).losses({sequence, d, ratios}, found);
    for (std::size_t t = 0; t < found.size(); ++t) {
      expect_near_share(found[t].loss, expected.losses[t]);
      expect_near_share(found[t].slope, expected.slopes[t]);
      const bool keeps_gradient = found[t].bound == Bound::kNone;
      EXPECT_TRUE(keeps_gradient || expected.slopes[t] == 0);
    }
  }
}

TEST(Surrogates, MiniBatchesAgreeWithNumPyUnderTheDefaultAggregation) {
  for (const golden::SurrogateMiniBatch& expected : golden::kSurrogateMiniBatches) {
    SCOPED_TRACE(testing::PrintToString(expected.settings));
    const PolicyLossOptions options = loss_options(expected.settings);
    check_options(options);
    const auto responses = golden_responses(expected.settings);
    Denominators whole;
    for (const auto& response : responses) {
      whole.sequences += 1;
      whole.tokens += std::ssize(response.log_probs);
    }
    PolicyLossStats stats;
    std::vector<float> slopes;
    for (const auto& response : responses) {
      const std::vector<float> entropies(response.log_probs.size());
      std::vector<float> d_log_probs(entropies.size()), d_entropies(entropies.size());
      SequenceInput input;
      input.log_probs = response.log_probs;
      input.old_log_probs = response.old_log_probs;
      input.entropies = entropies;
      input.advantage = response.advantage;
      input.weight = token_weight(options, whole, std::ssize(entropies));
      policy_loss(options, input, d_log_probs, d_entropies, stats);
      slopes.insert(slopes.end(), d_log_probs.begin(), d_log_probs.end());
    }
    expect_near_share(stats.loss, expected.loss);
    ASSERT_EQ(slopes.size(), expected.slopes.size());
    for (std::size_t t = 0; t < slopes.size(); ++t) {
      EXPECT_NEAR(slopes[t], expected.slopes[t], 1e-7 * std::abs(expected.slopes[t]));
    }
  }
}

TEST(Surrogates, LuspoRefusesAnotherAggregation) {
  EXPECT_EQ(
      error_of([] {
        check_options(loss_options({"algorithm=luspo", "aggregation=sequence-mean-token-mean"}));
      }),
      "policy_loss.aggregation is sequence-mean-token-mean, but policy_loss.algorithm luspo "
      "means constant; set policy_loss.aggregation to auto or constant, or "
      "policy_loss.algorithm to custom");
}

TEST(Surrogates, CispoTruncatesTheWeightAtTheCeilingItself) {
  EXPECT_EQ(cispo_loss({4, 4}, -2, 1, 5).slope, -4);
  EXPECT_EQ(cispo_loss({8, 8}, -2, 1, 5).slope, -5);
  EXPECT_EQ(cispo_loss({8, 8}, -2, 1, 5).loss, 10);
  EXPECT_NE(error_of([] { loss_options({"cispo.ceiling=0.2"}); }), "no error");
  EXPECT_NE(surrogate_error({"algorithm=custom", "surrogate=cispo", "ratio_level=sequence"})
                .find("the surrogate cispo is defined only for token"),
            std::string::npos);
}

TEST(Surrogates, SapoHasThePlainGradientAtRatioOneAndFadesAwayFromIt) {
  EXPECT_NEAR(sapo_loss({1.1, 1.1}, 1, 1).loss, -2.0999, 5e-5);  // published values
  EXPECT_NEAR(sapo_loss({1.1, 1.1}, -1, 1.05).loss, 2.0047, 5e-5);
  EXPECT_EQ(sapo_loss({1, 1}, 2, 1.05).slope, -2);
  EXPECT_NEAR(sapo_loss({30, 30}, 2, 1).slope, 0, 1e-9);
  EXPECT_NE(surrogate_error({"algorithm=sapo", "sapo.tau_negative=0"})
                .find("policy_loss.sapo.tau_positive and tau_negative are 1 and 0"),
            std::string::npos);
  EXPECT_EQ(surrogate_error({"algorithm=grpo", "sapo.tau_negative=0"}), "no error");
}

TEST(Surrogates, GmpoClipsTokensAndKeepsTheGradientOfTheOthers) {
  const std::vector<double> d = {0.9, -0.9, 0.1};
  std::vector<TokenLoss> found(3);
  gmpo_losses(d, 2, {}, found);  // A > 0 limits the first token only
  const double loss = -2 * std::exp((0.4 - 0.9 + 0.1) / 3);
  for (const TokenLoss& token : found) EXPECT_NEAR(token.loss, loss, 1e-15);
  EXPECT_EQ(found[0].slope, 0);
  EXPECT_EQ(found[0].bound, Bound::kHigh);
  EXPECT_NEAR(found[1].slope, loss, 1e-15);
  gmpo_losses(d, -2, {}, found);  // A < 0 limits the second token only
  EXPECT_EQ(found[1].bound, Bound::kLow);
  EXPECT_NEAR(found[2].slope, 2 * std::exp((0.9 - 0.4 + 0.1) / 3), 1e-15);
  gmpo_losses(std::vector<double>{12, 12, 12}, -1, {}, found);
  EXPECT_EQ(found[0].slope, 0) << "beyond the limit of sequence ratios";
}

TEST(Surrogates, VespoHasThePublishedWeightsOfTheProductOfRatios) {
  EXPECT_NEAR(vespo_weight(0.5, 2, 3), 0.3882, 5e-5);
  EXPECT_NEAR(vespo_weight(0.5, 3, 2), 1.2245, 5e-5);
  EXPECT_EQ(vespo_weight(0, 2, 3), 1);
  EXPECT_EQ(vespo_weight(-30, 2, 3), vespo_weight(-19, 2, 3)) << "limited below";
  EXPECT_EQ(vespo_weight(30, 2, 3), 0) << "and without an overflow above";
  EXPECT_EQ(vespo_weight(-std::numeric_limits<double>::infinity(), 0.1, 3), 0) << "masked";
}

TEST(Surrogates, VespoTakesTisWeightsAsFactorsOfItsRatio) {
  const std::vector<float> log_probs = {-1, -2}, old = {-1.25F, -1.5F}, behavior = {-1.5F, -1};
  const std::vector<float> entropies(2);
  const auto slope = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> all = {"algorithm=vespo", "recompute_old_log_probs=true"};
    all.insert(all.end(), settings.begin(), settings.end());
    const PolicyLossOptions options = loss_options(all);
    check_options(options);
    SequenceInput input{log_probs, old, behavior, {}, entropies, 1, 1};
    std::vector<float> d_log_probs(2), d_entropies(2);
    PolicyLossStats stats;
    policy_loss(options, input, d_log_probs, d_entropies, stats);
    EXPECT_EQ(d_log_probs[0], d_log_probs[1]) << "no token has a weight of its own";
    return static_cast<double>(d_log_probs[0]);
  };
  // log pi / pi_old is 0.25 - 0.5, and log pi_old / mu is 0.25 - 0.5.
  EXPECT_NEAR(slope({}), -vespo_weight(-0.25, 2, 3), 1e-7);
  EXPECT_NEAR(slope({"tis_cap=10"}), -vespo_weight(-0.5, 2, 3), 1e-7);
  EXPECT_NEAR(slope({"tis_cap=1"}), -vespo_weight(-0.75, 2, 3), 1e-7);
  EXPECT_NEAR(slope({"tis_cap=1", "tis_level=sequence"}), -vespo_weight(-0.5, 2, 3), 1e-7);
  EXPECT_NEAR(slope({"tis_cap=1", "tis_beyond=mask"}), 0, 1e-7);
}

TEST(Surrogates, ALossOfWholeResponsesRefusesTisByToken) {
  const auto error = [](const char* level) {
    return error_of([&] {
      check_options(loss_options({"algorithm=gmpo", "recompute_old_log_probs=true", "tis_cap=2",
                                  std::string("tis_level=") + level}));
    });
  };
  EXPECT_EQ(error("sequence"), "no error");
  EXPECT_EQ(error("token"),
            "policy_loss.tis_level is token, but with policy_loss.algorithm gmpo a response has "
            "one loss for all its tokens; set tis_level to sequence");
}

TEST(Surrogates, DppoDropsTokensWhoseProbabilityMovedTooFar) {
  const auto loss = [](double p, double old, double advantage) {
    const double ratio = p / old;
    return dppo_loss({ratio, ratio}, std::log(p), std::log(old), advantage, {.ceiling = 3});
  };
  EXPECT_EQ(loss(0.7, 0.5, 1).bound, Bound::kHigh);
  EXPECT_EQ(loss(0.7, 0.5, 1).slope, 0);
  EXPECT_NEAR(loss(0.7, 0.5, -1).slope, 1.4, 1e-12) << "it moves back";
  EXPECT_EQ(loss(0.3, 0.5, -1).bound, Bound::kLow);
  EXPECT_NEAR(loss(0.3, 0.5, 1).slope, -0.6, 1e-12);
  EXPECT_EQ(loss(0.1, 0.01, 2).slope, -6) << "a rare token has a large ratio, but moved little";
}

TEST(Surrogates, SequenceRatiosAreThoseOfTheMean) {
  const std::vector<double> d = {0.2, 0.0, 0.1};
  for (const Ratio& ratio : importance_ratios(RatioLevel::kSequence, d)) {
    EXPECT_NEAR(ratio.value, std::exp(0.1), 1e-15);
    EXPECT_NEAR(ratio.slope, std::exp(0.1), 1e-15);
  }
  const std::vector<Ratio> own = importance_ratios(RatioLevel::kToken, d);
  for (std::size_t t = 0; t < d.size(); ++t) EXPECT_EQ(own[t].value, std::exp(d[t]));
}

}  // namespace
}  // namespace lie
