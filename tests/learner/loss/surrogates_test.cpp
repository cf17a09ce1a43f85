#include "learner/loss/surrogate/surrogates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "common/config/config.h"
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
  EXPECT_NE(surrogate_error({"algorithm=ppo"}).find("expected one of grpo, gspo, custom"),
            std::string::npos);
}

TEST(Surrogates, ClipRangesDependOnTheLevel) {
  EXPECT_EQ(chosen_surrogate(surrogate_options({"algorithm=grpo"})).range_above, 0.2);
  EXPECT_EQ(chosen_surrogate(surrogate_options({"algorithm=gspo"})).range_above, 4e-4);
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
