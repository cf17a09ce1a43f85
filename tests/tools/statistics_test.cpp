#include "tools/analyze/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner/record/step_metrics.h"

namespace lie::analyze {
namespace {

TEST(Statistics, PearsonIsOneForALineAndNanForAConstant) {
  const double x[] = {1, 2, 3, 4};
  const double y[] = {3, 5, 7, 9};
  const double flat[] = {1, 1, 1, 1};
  EXPECT_NEAR(correlation(x, y), 1, 1e-12);
  EXPECT_TRUE(std::isnan(correlation(x, flat)));
}

TEST(LengthStatistics, HazardCountsResponsesThatReachAPosition) {
  // Four responses: lengths 1, 2, 2 and 2, the last cut at the limit.
  const ResponseEnd responses[] = {{1, true}, {2, true}, {2, true}, {2, false}};
  const LengthStatistics result = length_statistics(responses);
  ASSERT_EQ(result.bins.size(), 2U);
  EXPECT_DOUBLE_EQ(result.bins[0].hazard(), 0.25);     // 1 of 4 ends at position 1
  EXPECT_DOUBLE_EQ(result.bins[1].hazard(), 2.0 / 3);  // 2 of the 3 that reach position 2
  EXPECT_DOUBLE_EQ(result.smallest_hazard, 0.25);
  ASSERT_EQ(result.tail.size(), 2U);
  EXPECT_EQ(result.tail[1], std::pair(2.0, 0.75));
}

TEST(LengthStatistics, ConstantHazardIsRecovered) {
  std::vector<ResponseEnd> responses;  // 2^(10-L) responses end at position L: hazard one half
  for (int length = 1; length <= 10; ++length) {
    for (int i = 0; i < (1 << (10 - length)); ++i) responses.push_back({length, true});
  }
  const LengthStatistics result = length_statistics(responses);
  EXPECT_NEAR(result.smallest_hazard, 0.5, 0.01);
}

TEST(LengthStatistics, NoResponsesGiveEmptyStatistics) {
  EXPECT_EQ(length_statistics({}).responses, 0);
}

}  // namespace
}  // namespace lie::analyze
