// Compares the slope with golden/estimators.json, which golden/make_estimators.py computes
// independently, and checks gains and outcomes on samples whose answer is known. The last tests
// simulate forecasts of which the true values are known, and count how often the intervals hold
// them.
#include "tools/forecast/forecast.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tools/forecast/chance.h"
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

TEST(Forecast, PromptsOfEqualLengthsDoNotNarrowTheSlope) {
  PromptSamples rising = samples_of(10, 0, 4), falling = samples_of(10, 2, 4);
  rising[2] = rising[3] = {.tokens = 30, .correct = true};
  falling[3].tokens = 20;
  std::vector<PromptSamples> prompts = {rising, rising, falling};
  const Estimate before = slope_within_prompts(prompts);
  EXPECT_LT(before.low, before.value);
  prompts.insert(prompts.end(), 50, samples_of(20, 2, 4));
  const Estimate after = slope_within_prompts(prompts);
  EXPECT_EQ(after.low, before.low);
  EXPECT_EQ(after.high, before.high);
}

TEST(Forecast, ASlopeOfFewPromptsDecidesNothing) {
  PromptSamples rising = samples_of(10, 0, 4);
  rising[2] = rising[3] = {.tokens = 30, .correct = true};
  std::vector<PromptSamples> natural(19, rising);
  natural.insert(natural.end(), 40, samples_of(10, 2, 4));
  const std::vector<PromptSamples> forced =
      prompts_of(58, samples_of(30, 1, 4), samples_of(30, 2, 4));
  const Forecast few = forecast_of({natural, {{30, forced}}});
  EXPECT_EQ(few.slope_prompts, 19);
  EXPECT_GT(few.natural_gain().low, kWorthwhileGain);
  EXPECT_EQ(few.outcome, ForecastCase::kLengthDoesNotPay);
  natural.back() = rising;
  EXPECT_EQ(forecast_of({natural, {{30, forced}}}).outcome, ForecastCase::kLengthensByItself);
}

TEST(Forecast, AGainWithoutAnyDifferenceIsUndecided) {
  // Nothing is correct, forced or not: that says little about the next sample.
  const std::vector<PromptSamples> natural(40, samples_of(10, 0, 2)),
      forced(40, samples_of(30, 0, 2));
  const Forecast forecast = forecast_of({natural, {{30, forced}}});
  EXPECT_EQ(forecast.outcome, ForecastCase::kUndecided);
  EXPECT_NE(outcome_text(forecast).find("every prompt gains the same"), std::string::npos);
  EXPECT_GT(forecast.accuracy.high, 0.02);
}

TEST(Forecast, GainsOfAStratumDoNotCountTheSamplesThatChoseIt) {
  // The first two of four samples choose the stratum. The others have accuracy .5 and 0.
  PromptSamples mixed = samples_of(10, 0, 4);
  mixed[2].correct = true;
  std::vector<PromptSamples> natural, forced;
  for (int i = 0; i < 20; ++i) {
    natural.insert(natural.end(), {mixed, samples_of(10, 0, 4), samples_of(10, 2, 4)});
    forced.insert(forced.end(), {samples_of(50, 2, 4), samples_of(50, 2, 4), samples_of(50, 1, 4)});
  }
  const Forecast forecast = forecast_of({natural, {{50, forced}}});
  const LengthGain& gain = forecast.gains.at(0);
  EXPECT_EQ(gain.none_correct.prompts, 40);
  EXPECT_NEAR(gain.none_correct.gain.value().value, (0.0 + 0.5) / 2, 1e-12);
  EXPECT_EQ(gain.some_correct.prompts, 0);
  EXPECT_EQ(gain.all_correct.prompts, 20);
  EXPECT_NEAR(gain.all_correct.gain.value().value, 0.25, 1e-12);
  EXPECT_NEAR(gain.gain.value, (0.25 + 0.5 - 0.25) / 3, 1e-12);
  EXPECT_NEAR(forecast.groups_without_correct, 1.0 / 3, 1e-12);
}

TEST(Forecast, OfFewPromptsOfAKindNoGainIsTold) {
  const std::vector<PromptSamples> natural(19, samples_of(10, 0, 4)),
      forced(19, samples_of(30, 4, 4));
  const Forecast forecast = forecast_of({natural, {{30, forced}}});
  EXPECT_EQ(forecast.gains.at(0).none_correct.prompts, 19);
  EXPECT_FALSE(forecast.gains.at(0).none_correct.gain);
  EXPECT_NE(forecast_text(forecast).find("none correct: too few to tell, 19 prompts"),
            std::string::npos);
  EXPECT_FALSE(forecast_json(forecast)["forced"][0]["none_correct"].contains("gain"));
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
  std::vector<PromptSamples> natural(21, samples_of(10, 2, 4)), forced;
  for (int i = 0; i < 7; ++i) {
    forced.insert(forced.end(), {samples_of(30, 4, 4), samples_of(30, 0, 4), samples_of(30, 3, 4)});
  }
  const Forecast forecast = forecast_of({natural, {{30, forced}}});
  EXPECT_EQ(forecast.outcome, ForecastCase::kUndecided);
  EXPECT_EQ(forecast_json(forecast)["outcome"], "undecided");
  EXPECT_NE(outcome_text(forecast).find("holds both 0"), std::string::npos);
}

TEST(Forecast, FewPromptsAreUndecidedHoweverTheyAgree) {
  const std::vector<PromptSamples> natural(19, samples_of(10, 0, 4)),
      forced(19, samples_of(30, 4, 4));
  const Forecast forecast = forecast_of({natural, {{30, forced}}});
  EXPECT_EQ(forecast.outcome, ForecastCase::kUndecided);
  EXPECT_NE(outcome_text(forecast).find("19 prompts are too few to tell"), std::string::npos);
  const Forecast two = forecast_of({{samples_of(10, 0, 4), samples_of(10, 4, 4)},
                                    {{30, {samples_of(30, 4, 4), samples_of(30, 4, 4)}}}});
  EXPECT_LT(two.accuracy.low, 0.01);
  EXPECT_GT(two.accuracy.high, 0.99);
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

TEST(Chances, AreThoseOfTheAnswersOnTheNextPromptsOfTheSource) {
  // Golds 1, 2 and 1 of one source, 1 of another, which is alone there.
  const std::vector<AnsweredPrompt> prompts = {{"a", "1", {"1", "1"}},
                                               {"a", "2", {"1", "2"}},
                                               {"b", "1", {"1", "1"}},
                                               {"a", "1", {"2", ""}}};
  int comparisons = 0;
  const auto is_equal = [&](const std::string& gold, const std::string& answer) {
    ++comparisons;
    return gold == answer;
  };
  const std::vector<double> chances = chances_of(prompts, is_equal);
  // Each is tried on the two others: g = (0 + 1)/2, (1/2 + 1/2)/2, (0 + 1/2)/2 with mean 5/12. On
  // their own golds the others have t = (1/2 + 0)/2, (0 + 1/2)/2, (1 + 1/2)/2.
  const std::vector<double> expected = {0.5 + 0.25 - 5.0 / 12, 0.5 + 0.25 - 5.0 / 12, 0,
                                        0.25 + 0.75 - 5.0 / 12};
  ASSERT_EQ(chances.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(chances[i], expected[i], 1e-12) << i;
  EXPECT_EQ(comparisons, 4);  // of two golds with two answers
}

TEST(Chances, ThirtyTwoPromptsFollow) {
  std::vector<AnsweredPrompt> prompts;
  for (int i = 0; i < 40; ++i) prompts.push_back({"", std::to_string(i), {"0"}});
  const std::vector<double> chances = chances_of(
      prompts, [](const std::string& gold, const std::string& answer) { return gold == answer; });
  // The first prompt's gold is met by the 32 before it: 8 to 39. So t = 1 there, g = 1/32 in each
  // of these, and the mean of g is 1/40.
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(chances[i], (i == 0 ? 1.0 : i >= 8 ? 1.0 / 32 : 0.0) - 1.0 / 40, 1e-12) << i;
  }
}

TEST(Forecast, TheOutcomeIsDecidedAboveChance) {
  // A guess that is correct in half of the prompts, and on half of the others. Forced, responses
  // are correct as often, but by chance in a quarter of the prompts alone.
  std::vector<PromptSamples> natural, forced;
  for (int i = 0; i < 40; ++i) {
    natural.push_back(samples_of(10, i % 2 == 0 ? 4 : 0, 4));
    forced.push_back(samples_of(30, 2 + i % 2 * (i % 4 == 1 ? 1 : -1), 4));
  }
  const ForecastSamples samples{.natural = natural,
                                .forced = {{30, forced, std::vector<double>(40, 0.25)}},
                                .chances = std::vector<double>(40, 0.5)};
  const Forecast forecast = forecast_of(samples);
  const LengthGain& gain = forecast.gains.at(0);
  EXPECT_NEAR(gain.gain.value, 0, 1e-12);
  EXPECT_NEAR(gain.gain_above_chance.value, 0.25, 1e-12);
  EXPECT_NEAR(gain.gain_above_chance.low, gain.gain.low + 0.25, 1e-12);
  EXPECT_EQ(forecast.outcome, ForecastCase::kLengthPays);
  EXPECT_EQ(forecast_json(forecast)["forced"][0]["chance"], 0.25);
  EXPECT_NE(forecast_text(forecast).find("answers on other prompts: 0.500"), std::string::npos);
  const Forecast unmeasured = forecast_of({natural, {{30, forced}}});
  EXPECT_NE(unmeasured.outcome, ForecastCase::kLengthPays);
  EXPECT_TRUE(forecast_json(unmeasured)["chance"].is_null());
  EXPECT_EQ(forecast_text(unmeasured).find("chance"), std::string::npos);
}

/// A kind of prompt. Its natural accuracy p has a beta distribution with the given mean and
/// concentration. Forced, half of the prompts gain `gain` (1 - p), the others lose `loss` p, and
/// the mean gain of all is 0. Lengths are independent of correctness.
struct PromptKind {
  double accuracy = 0, concentration = 0;
  double gain = 0.4 * std::min(1.0, accuracy / (1 - accuracy));
  double loss = 0.4 * std::min(1.0, (1 - accuracy) / accuracy);

  /// Returns the mean gain of prompts that have `correct` of four correct samples, by the beta
  /// distribution that these leave (0 and 4 only).
  double gain_given(int correct) const {
    const double p = (accuracy * concentration + correct) / (concentration + 4);
    return (gain * (1 - p) - loss * p) / 2;
  }
};

PromptSamples drawn_samples(double accuracy, double tokens, std::mt19937_64& random) {
  PromptSamples samples(8);
  for (ForecastSample& sample : samples) {
    sample.tokens = std::round(tokens * std::uniform_real_distribution(0.5, 1.5)(random));
    sample.correct = std::bernoulli_distribution(accuracy)(random);
  }
  return samples;
}

ForecastSamples drawn_forecast(const PromptKind& kind, int prompts, std::mt19937_64& random) {
  std::gamma_distribution<double> right(kind.accuracy * kind.concentration);
  std::gamma_distribution<double> wrong((1 - kind.accuracy) * kind.concentration);
  ForecastSamples samples{.natural = {}, .forced = {{.tokens = 60, .prompts = {}}}};
  for (int i = 0; i < prompts; ++i) {
    const double a = right(random), b = wrong(random), p = a / (a + b);
    const bool gains = std::bernoulli_distribution(0.5)(random);
    samples.natural.push_back(drawn_samples(p, 20, random));
    samples.forced[0].prompts.push_back(
        drawn_samples(gains ? p + kind.gain * (1 - p) : p - kind.loss * p, 60, random));
  }
  return samples;
}

/// Counts intervals of simulated forecasts, and those that hold the true value.
struct Held {
  int intervals = 0, held = 0;

  void count(const Estimate& estimate, double truth) {
    ++intervals;
    if (estimate.low <= truth && truth <= estimate.high) ++held;
  }
  double percent() const { return 100.0 * held / intervals; }

  /// Returns the percentage; nothing if fewer than a hundred forecasts had such an interval.
  std::string text() const { return intervals < 100 ? "" : fmt::format("{:.1f}", percent()); }
};

TEST(Forecast, IntervalsHoldTheTruthInSimulatedForecasts) {
  std::mt19937_64 random(9);
  fmt::print("accuracy concentration prompts   gain   none    all  slope  falsely pays\n");
  for (const double accuracy : {0.1, 0.3, 0.5, 0.9}) {
    for (const double concentration : {0.5, 2.0}) {
      for (const int prompts : {64, 256}) {
        const PromptKind kind{.accuracy = accuracy, .concentration = concentration};
        Held gain, none_correct, all_correct, slope;
        double falsely = 0;  // percent of the forecasts
        for (int run = 0; run < 1000; ++run) {
          const Forecast forecast = forecast_of(drawn_forecast(kind, prompts, random));
          const LengthGain& found = forecast.gains[0];
          gain.count(found.gain, 0);
          slope.count(forecast.natural_gain(), 0);
          if (found.none_correct.gain)
            none_correct.count(*found.none_correct.gain, kind.gain_given(0));
          if (found.all_correct.gain)
            all_correct.count(*found.all_correct.gain, kind.gain_given(4));
          falsely += forecast.outcome == ForecastCase::kLengthPays ? 0.1 : 0;
        }
        fmt::print("{:8} {:13} {:7} {:>6} {:>6} {:>6} {:>6} {:13.1f}\n", accuracy, concentration,
                   prompts, gain.text(), none_correct.text(), all_correct.text(), slope.text(),
                   falsely);
        for (const Held& of : {gain, none_correct, all_correct, slope}) {
          if (of.intervals < 500) continue;
          EXPECT_GE(of.percent(), prompts == 64 ? 92 : 93);
          EXPECT_LE(of.percent(), 97);
        }
        EXPECT_LE(falsely, prompts == 64 ? 6 : 4);
      }
    }
  }
}

TEST(Forecast, IntervalsAboveChanceHoldTheTruth) {
  // Golds are 0, 1 and 2 with probability .5, .3 and .2. Naturally all answers are 0. Forced, a
  // quarter of the prompts is answered correctly in 9 of 10 responses; other answers are drawn as
  // golds are. Above chance the natural accuracy is 0, and the forced one .9 / 4 (1 - .38), where
  // .38 is the probability that two golds are equal.
  const double truth = 0.9 / 4 * (1 - 0.38);
  std::mt19937_64 random(11);
  std::discrete_distribution<int> drawn({0.5, 0.3, 0.2});
  const auto is_equal = [](const std::string& gold, const std::string& answer) {
    return gold == answer;
  };
  for (const int count : {64, 256}) {
    Held held;
    for (int run = 0; run < 1000; ++run) {
      std::vector<AnsweredPrompt> natural, forced;
      for (int i = 0; i < count; ++i) {
        const std::string gold = std::to_string(drawn(random));
        const bool knows = std::bernoulli_distribution(0.25)(random);
        natural.push_back({"", gold, std::vector<std::string>(8, "0")});
        AnsweredPrompt& prompt = forced.emplace_back("", gold);
        for (int k = 0; k < 8; ++k) {
          const bool is_right = knows && std::bernoulli_distribution(0.9)(random);
          prompt.answers.push_back(is_right ? gold : std::to_string(drawn(random)));
        }
      }
      const auto samples_of_all = [](const std::vector<AnsweredPrompt>& prompts, double tokens) {
        std::vector<PromptSamples> samples;
        for (const AnsweredPrompt& prompt : prompts) {
          samples.push_back(samples_of(
              tokens, static_cast<int>(std::ranges::count(prompt.answers, prompt.gold)), 8));
        }
        return samples;
      };
      const Forecast forecast =
          forecast_of({.natural = samples_of_all(natural, 10),
                       .forced = {{30, samples_of_all(forced, 30), chances_of(forced, is_equal)}},
                       .chances = chances_of(natural, is_equal)});
      held.count(forecast.gains[0].gain_above_chance, truth);
    }
    fmt::print("above chance, {} prompts: {}\n", count, held.text());
    EXPECT_GE(held.percent(), 93);
    EXPECT_LE(held.percent(), 97);
  }
}

TEST(Forecast, TheSlopesIntervalHoldsATrueSlope) {
  // Correct with probability p + 0.01 (tokens - 20), p between 0.2 and 0.8, 10 to 30 tokens.
  std::mt19937_64 random(10);
  double held = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<PromptSamples> prompts(256, PromptSamples(8));
    for (PromptSamples& samples : prompts) {
      const double p = std::uniform_real_distribution(0.2, 0.8)(random);
      for (ForecastSample& sample : samples) {
        sample.tokens = std::uniform_int_distribution(10, 30)(random);
        sample.correct = std::bernoulli_distribution(p + 0.01 * (sample.tokens - 20))(random);
      }
    }
    const Estimate slope = slope_within_prompts(prompts);
    held += slope.low <= 0.01 && 0.01 <= slope.high ? 0.1 : 0;
  }
  fmt::print("the slope's interval held a true slope in {:.1f} %\n", held);
  EXPECT_GE(held, 93);
  EXPECT_LE(held, 97);
}

}  // namespace
}  // namespace lie
