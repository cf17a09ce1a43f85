// Compares with golden/estimators.json, which golden/make_estimators.py computes independently.
#include "tools/eval/estimators.h"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(Intervals, WilsonAndNormalQuantile) {
  for (const Json& row : golden()["wilson"]) {
    const Estimate interval = wilson(row["share"], row["count"], row["confidence"]);
    EXPECT_NEAR(interval.low, row["low"].get<double>(), 1e-9) << row;
    EXPECT_NEAR(interval.high, row["high"].get<double>(), 1e-9) << row;
  }
  for (const Json& row : golden()["normal_quantile"]) {
    EXPECT_NEAR(normal_quantile(row["p"]), row["value"].get<double>(), 1e-9) << row;
  }
}

TEST(Intervals, BootstrapAgreesWithOtherDrawsWithinNoise) {
  for (const Json& row : golden()["bootstrap"]) {
    const std::vector<std::vector<double>> strata = row["strata"];
    const Bootstrap how{.resamples = 20000, .confidence = row["confidence"], .seed = 3};
    const Estimate estimate = bootstrap_mean(strata, how);
    EXPECT_NEAR(estimate.value, row["value"].get<double>(), 1e-12);
    // Standard error of a 2.5 % quantile of 20,000 draws: about 2 % of the interval's half width.
    const double noise = 0.06 * (row["high"].get<double>() - row["low"].get<double>()) / 2;
    EXPECT_NEAR(estimate.low, row["low"].get<double>(), noise);
    EXPECT_NEAR(estimate.high, row["high"].get<double>(), noise);
    const Estimate again = bootstrap_mean(strata, how);
    EXPECT_EQ(again.low, estimate.low);
    EXPECT_EQ(again.high, estimate.high);
  }
}

TEST(Intervals, IntervalWithoutTrialsIsTheShareItself) {
  EXPECT_DOUBLE_EQ(wilson(0, 10).low, 0);
  const Estimate none = wilson(0.5, 0);
  EXPECT_EQ(none.low, 0.5);
  EXPECT_EQ(none.high, 0.5);
}

TEST(Intervals, MeanOfSeedsHasStudentsInterval) {
  // scipy.stats.t.interval(0.95, 2, loc=2, scale=scipy.stats.sem([1, 2, 3])): [-0.4841, 4.4841]
  const double values[] = {1, 2, 3};
  const Estimate estimate = mean_interval(values);
  EXPECT_DOUBLE_EQ(estimate.value, 2);
  EXPECT_NEAR(estimate.low, -0.4841, 2e-3);
  EXPECT_NEAR(estimate.high, 4.4841, 2e-3);
}

TEST(Intervals, OneSeedHasNoInterval) {
  const double values[] = {0.7};
  EXPECT_EQ(mean_interval(values).low, mean_interval(values).high);
}

}  // namespace
}  // namespace lie::evaluation
