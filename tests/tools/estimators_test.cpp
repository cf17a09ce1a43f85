// Compares with golden/estimators.json, which golden/make_estimators.py computes independently.
#include "tools/eval/eval_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tools/statistics/intervals.h"

namespace lie::evaluation {
namespace {

const Json& golden() {
  static const Json kGolden =
      read_json(std::filesystem::path(source_directory()) / "tests/tools/golden/estimators.json");
  return kGolden;
}

TEST(Estimators, PassAtKIsTheShareOfSubsetsWithACorrectSample) {
  for (const Json& row : golden()["pass_at_k"]) {
    EXPECT_NEAR(pass_at_k(row["n"], row["right"], row["k"]), row["value"].get<double>(), 1e-12)
        << row;
  }
  EXPECT_NEAR(pass_at_k(10000, 1, 5000), 0.5, 1e-9);  // without overflow
}

TEST(Estimators, MajorityCountsVotesAndSharesTies) {
  for (const Json& row : golden()["majority_at_k"]) {
    const std::vector<std::int32_t> classes = row["classes"];
    const std::vector<int> flags = row["right"];
    const std::vector<char> right(flags.begin(), flags.end());
    EXPECT_NEAR(majority_at_k(classes, right, row["k"]), row["value"].get<double>(), 1e-12) << row;
  }
}

TEST(Intervals, ShareOverPromptsIsTheScoreIntervalOfItsVariance) {
  for (const Json& row : golden()["share_over_prompts"]) {
    std::vector<PromptShare> prompts;
    for (const Json& prompt : row["prompts"]) {
      prompts.push_back({prompt[0], prompt[1], prompt[2], prompt[3]});
    }
    const Estimate interval = share_over_prompts(prompts, row["confidence"]);
    EXPECT_NEAR(interval.value, row["value"].get<double>(), 1e-12);
    EXPECT_NEAR(interval.low, row["low"].get<double>(), 1e-9);
    EXPECT_NEAR(interval.high, row["high"].get<double>(), 1e-9);
  }
}

TEST(Intervals, MeanOfSeedsHasStudentsInterval) {
  // scipy.stats.t.interval(0.95, 2, loc=2, scale=scipy.stats.sem([1, 2, 3])): [-0.4841, 4.4841]
  const double values[] = {1, 2, 3};
  const Estimate estimate = mean_interval(values);
  EXPECT_DOUBLE_EQ(estimate.value, 2);
  EXPECT_NEAR(estimate.low, -0.4841, 2e-3);
  EXPECT_NEAR(estimate.high, 4.4841, 2e-3);
}

TEST(Intervals, StudentQuantileIsExactForEveryDegreeOfFreedom) {
  ASSERT_EQ(golden()["student"].size(), 33U);
  for (const Json& row : golden()["student"]) {
    const double expected = row["value"];
    EXPECT_NEAR(student_quantile(row["share"], row["degrees"]), expected, 1e-9 * expected) << row;
  }
}

/// Returns the interval of a share of independent trials: each is a prompt of its own.
Estimate over_responses(double share, int count) {
  std::vector<PromptShare> trials(static_cast<std::size_t>(count), {1.0 / count, 0, 1});
  const auto right = static_cast<std::size_t>(std::lround(share * count));
  for (std::size_t i = 0; i < right; ++i) trials[i].correct = 1.0 / count;
  return share_over_prompts(trials);
}

/// Returns the correct shares of `count` prompts with 8 responses each, equally weighted. The
/// difficulty of a prompt has a beta distribution with this mean and concentration.
std::vector<PromptShare> simulated_prompts(double accuracy, double concentration, int count,
                                           std::mt19937_64& random) {
  constexpr int kResponses = 8;
  std::gamma_distribution<double> right(accuracy * concentration);
  std::gamma_distribution<double> wrong((1 - accuracy) * concentration);
  std::vector<PromptShare> prompts;
  for (int i = 0; i < count; ++i) {
    const double a = right(random), b = wrong(random);
    const int correct = std::binomial_distribution<int>(kResponses, a / (a + b))(random);
    prompts.push_back({1.0 / count, correct / static_cast<double>(kResponses * count), kResponses});
  }
  return prompts;
}

struct Coverage {
  double prompts = 0, responses = 0;  // percent of runs whose interval holds the accuracy
};

/// Returns the coverage over 1,000 runs, with prompts and with responses as the unit.
Coverage coverage(double accuracy, double concentration, int count, std::mt19937_64& random) {
  Coverage percent;
  const auto held = [&](const Estimate& e) { return e.low <= accuracy && accuracy <= e.high; };
  for (int run = 0; run < 1000; ++run) {
    const auto prompts = simulated_prompts(accuracy, concentration, count, random);
    const Estimate estimate = share_over_prompts(prompts);
    percent.prompts += held(estimate) ? 0.1 : 0;
    percent.responses += held(over_responses(estimate.value, count * 8)) ? 0.1 : 0;
  }
  return percent;
}

// Near 0 and 1 with few prompts the interval is conservative: such runs see no exception at all.
TEST(Intervals, IntervalOverPromptsHoldsTheAccuracyInSimulatedRuns) {
  std::mt19937_64 random(7);
  fmt::print("accuracy concentration prompts  over prompts  over responses\n");
  for (const double accuracy : {0.02, 0.1, 0.3, 0.5, 0.9, 0.98}) {
    for (const double concentration : {0.5, 2.0, 10.0}) {
      for (const int prompts : {16, 64, 256}) {
        const Coverage held = coverage(accuracy, concentration, prompts, random);
        fmt::print("{:8} {:13} {:7} {:12.1f} % {:13.1f} %\n", accuracy, concentration, prompts,
                   held.prompts, held.responses);
        EXPECT_GE(held.prompts, 93);
        if (prompts == 256 || (prompts == 64 && accuracy > 0.2 && accuracy < 0.8)) {
          EXPECT_LE(held.prompts, 97);
        }
        if (concentration < 1) {
          EXPECT_LT(held.responses, 80);
        }
      }
    }
  }
}

TEST(Intervals, IntervalOverStrataHoldsTheMeanOfSourcesInSimulatedRuns) {
  struct Source {
    double accuracy;
    int prompts;
  };
  const Source sources[] = {{0.1, 30}, {0.5, 272}, {0.9, 83}};
  std::mt19937_64 random(8);
  double held = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<PromptShare> all;
    for (std::size_t s = 0; s < std::size(sources); ++s) {
      for (PromptShare prompt :
           simulated_prompts(sources[s].accuracy, 2.0, sources[s].prompts, random)) {
        all.push_back({prompt.weight / 3, prompt.correct / 3, prompt.responses, s});
      }
    }
    const Estimate estimate = share_over_prompts(all);
    held += estimate.low <= 0.5 && 0.5 <= estimate.high ? 0.1 : 0;
  }
  EXPECT_GE(held, 93);
  EXPECT_LE(held, 97);
}

TEST(Intervals, OnePromptOrEqualPromptsGiveNoFalseCertainty) {
  const std::vector<PromptShare> wrong(64, {1.0 / 64, 0, 16});
  EXPECT_EQ(share_over_prompts(wrong).low, 0);
  EXPECT_GT(share_over_prompts(wrong).high, 0.01);
  const std::vector<PromptShare> right(64, {1.0 / 64, 1.0 / 64, 16});
  EXPECT_LT(share_over_prompts(right).low, 0.99);
  EXPECT_EQ(share_over_prompts(right).high, 1);
  const Estimate one = share_over_prompts(std::span(right).first(1));
  EXPECT_EQ(one.low, one.high);
}

TEST(Intervals, OneSeedHasNoInterval) {
  const double values[] = {0.7};
  EXPECT_EQ(mean_interval(values).low, mean_interval(values).high);
}

}  // namespace
}  // namespace lie::evaluation
