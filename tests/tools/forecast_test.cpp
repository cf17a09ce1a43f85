// Compares the slope with golden/estimators.json, which golden/make_estimators.py computes
// independently, and checks gains and outcomes on samples whose answer is known.
#include "tools/forecast/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tools/forecast/forecast_page.h"

namespace lie {
namespace {

/// Returns `count` samples of `tokens` tokens, the first `correct` of which are correct.
PromptSamples samples_of(double tokens, int correct, int count) {
  PromptSamples samples;
  for (int i = 0; i < count; ++i) samples.push_back({.tokens = tokens, .correct = i < correct});
  return samples;
}

/// Returns `prompts` equal prompts, plus one that differs, so that intervals are not empty.
std::vector<PromptSamples> prompts_of(int prompts, const PromptSamples& samples,
                                      const PromptSamples& other) {
  std::vector<PromptSamples> all(static_cast<std::size_t>(prompts), samples);
  all.push_back(other);
  return all;
}

TEST(Forecast, TheSlopeIsThatOfARegressionWithADummyForEachPrompt) {
  const Json golden =
      read_json(std::filesystem::path(source_directory()) / "tests/tools/golden/estimators.json");
  for (const Json& row : golden["slope_within_prompts"]) {
    std::vector<PromptSamples> prompts;
    for (const Json& prompt : row["prompts"]) {
      PromptSamples& samples = prompts.emplace_back();
      for (const Json& sample : prompt) {
        samples.push_back({.tokens = sample[0], .correct = sample[1] == 1});
      }
    }
    const Estimate slope = slope_within_prompts(prompts);
    EXPECT_NEAR(slope.value, row["value"].get<double>(), 1e-12);
    EXPECT_NEAR(slope.low, row["low"].get<double>(), 1e-9);
    EXPECT_NEAR(slope.high, row["high"].get<double>(), 1e-9);
  }
}

TEST(Forecast, TheDeviationOfLengthsIsPooledWithinPrompts) {
  PromptSamples wide = samples_of(10, 0, 3);
  wide[0].tokens = 7;
  wide[2].tokens = 13;
  EXPECT_DOUBLE_EQ(length_deviation({wide, samples_of(500, 0, 2)}), std::sqrt(18.0 / 3));
}

TEST(Forecast, EqualLengthsHaveNoSlope) {
  const Estimate slope = slope_within_prompts({samples_of(9, 1, 4), samples_of(20, 4, 4)});
  EXPECT_EQ(slope.value, 0);
  EXPECT_EQ(slope.low, 0);
  EXPECT_EQ(slope.high, 0);
}

TEST(Forecast, GainsOfAStratumDoNotCountTheSamplesThatChoseIt) {
  // The first two of four samples choose the stratum. The others have accuracy .5 and 0.
  PromptSamples mixed = samples_of(10, 0, 4);
  mixed[2].correct = true;
  const std::vector<PromptSamples> natural = {mixed, samples_of(10, 0, 4), samples_of(10, 2, 4)};
  const std::vector<PromptSamples> forced = {samples_of(50, 2, 4), samples_of(50, 2, 4),
                                             samples_of(50, 1, 4)};
  const Forecast forecast = forecast_of({natural, {{50, forced}}});
  const LengthGain& gain = forecast.gains.at(0);
  EXPECT_EQ(gain.none_correct.prompts, 2);
  EXPECT_DOUBLE_EQ(gain.none_correct.gain.value, (0.0 + 0.5) / 2);
  EXPECT_EQ(gain.some_correct.prompts, 0);
  EXPECT_EQ(gain.all_correct.prompts, 1);
  EXPECT_DOUBLE_EQ(gain.all_correct.gain.value, 0.25);
  EXPECT_DOUBLE_EQ(gain.gain.value, (0.25 + 0.5 - 0.25) / 3);
  EXPECT_DOUBLE_EQ(forecast.groups_without_correct, 1.0 / 3);
}

TEST(Forecast, LengthPaysIfForcedResponsesAreCorrectMoreOften) {
  const Forecast forecast =
      forecast_of({prompts_of(40, samples_of(10, 1, 4), samples_of(10, 2, 4)),
                   {{30, prompts_of(40, samples_of(30, 3, 4), samples_of(30, 1, 4))}}});
  EXPECT_EQ(forecast.outcome, ForecastCase::kLengthPays);
  EXPECT_NE(outcome_text(forecast).find("reward.length.delta_tokens=20"), std::string::npos)
      << outcome_text(forecast);
}

TEST(Forecast, ARisingSlopeGoesBeforeAGain) {
  PromptSamples rising = samples_of(10, 0, 4);
  rising[2] = rising[3] = {.tokens = 30, .correct = true};
  const Forecast forecast =
      forecast_of({prompts_of(40, rising, samples_of(10, 2, 4)),
                   {{30, prompts_of(40, samples_of(30, 4, 4), samples_of(30, 1, 4))}}});
  EXPECT_GT(forecast.slope.low, 0);
  EXPECT_EQ(forecast.outcome, ForecastCase::kLengthensByItself);
}

TEST(Forecast, ASlopeOverShortDistancesIsNoSignalForLength) {
  // One response of each prompt is a token longer. It is correct in 52 % of the prompts, the others
  // in 49 %.
  std::vector<PromptSamples> natural(4000, samples_of(10, 0, 4));
  for (std::size_t i = 0; i < natural.size(); ++i) {
    natural[i][3].tokens = 11;
    natural[i][3].correct = i % 100 < 52;
    for (std::size_t k = 0; k < 3; ++k) natural[i][k].correct = (i + 31 * k) % 100 < 49;
  }
  const Forecast forecast =
      forecast_of({natural, {{30, std::vector<PromptSamples>(4000, samples_of(30, 3, 4))}}});
  EXPECT_GT(forecast.natural_gain().low, 0);
  EXPECT_LT(forecast.natural_gain().value, kWorthwhileGain);
  EXPECT_EQ(forecast.outcome, ForecastCase::kLengthPays);
}

TEST(Forecast, LengthDoesNotPayIfTheGainIsSurelySmall) {
  const Forecast forecast =
      forecast_of({prompts_of(40, samples_of(10, 2, 4), samples_of(10, 2, 4)),
                   {{30, prompts_of(40, samples_of(30, 1, 4), samples_of(30, 2, 4))}}});
  EXPECT_EQ(forecast.outcome, ForecastCase::kLengthDoesNotPay);
}

TEST(Forecast, AWideIntervalIsUndecided) {
  const Forecast forecast =
      forecast_of({{samples_of(10, 2, 4), samples_of(10, 2, 4), samples_of(10, 2, 4)},
                   {{30, {samples_of(30, 4, 4), samples_of(30, 0, 4), samples_of(30, 3, 4)}}}});
  EXPECT_EQ(forecast.outcome, ForecastCase::kUndecided);
  EXPECT_EQ(forecast_json(forecast)["outcome"], "undecided");
}

TEST(Forecast, TheOutcomeIsDecidedOnTheLongestLength) {
  const auto natural = prompts_of(40, samples_of(10, 2, 4), samples_of(10, 2, 4));
  const Forecast forecast =
      forecast_of({natural,
                   {{50, prompts_of(40, samples_of(50, 1, 4), samples_of(50, 2, 4))},
                    {30, prompts_of(40, samples_of(30, 4, 4), samples_of(30, 2, 4))}}});
  EXPECT_EQ(forecast.gains.front().tokens, 30);
  EXPECT_EQ(forecast.outcome, ForecastCase::kLengthDoesNotPay);
}

TEST(Forecast, ThePageEscapesTheNameAndShowsEachLength) {
  const auto natural = prompts_of(3, samples_of(10, 2, 4), samples_of(10, 1, 4));
  const Forecast forecast = forecast_of({natural, {{30, natural}, {50, natural}}});
  const std::string page = forecast_page(forecast, "<b>.yaml");
  EXPECT_NE(page.find("Forecast of &lt;b&gt;.yaml"), std::string::npos);
  EXPECT_NE(page.find(">at least 30 tokens<"), std::string::npos);
  EXPECT_NE(page.find(">at least 50 tokens<"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace lie
