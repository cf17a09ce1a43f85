#include "learner/schedule/staleness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/base/error.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

ScoredGroup group_of(std::int64_t version, std::vector<std::size_t> lengths) {
  ScoredGroup group;
  group.rollout.ticket.policy_version = version;
  for (const std::size_t length : lengths)
    group.rollout.responses.emplace_back().ids.resize(length);
  return group;
}

TEST(Staleness, IsAveragedOverTokens) {
  // Step 5 begins with the weights after step 4. They sampled 3 tokens; the weights of 9 are two
  // steps older.
  const std::vector<ScoredGroup> groups = {group_of(4, {1, 2}), group_of(2, {9})};
  const Staleness staleness = staleness_of(5, groups);
  EXPECT_DOUBLE_EQ(staleness.mean, 2.0 * 9 / 12);
  EXPECT_EQ(staleness.max, 2);
  EXPECT_TRUE(std::isnan(staleness_of(5, {}).mean));
}

TEST(Staleness, CountsTheWeightsOfEachTokenWhereTheyChangedInFlight) {
  ScoredGroup group = group_of(2, {9});
  group.rollout.responses[0].versions = {{2, 1}, {3, 6}, {4, 2}};
  const std::vector<ScoredGroup> groups = {group};
  const Staleness staleness = staleness_of(5, groups);
  EXPECT_DOUBLE_EQ(staleness.mean, (2.0 * 1 + 1.0 * 6) / 9);
  EXPECT_EQ(staleness.max, 2);
  EXPECT_NO_THROW(check_staleness(5, groups, 2));
  EXPECT_NE(error_of([&] { check_staleness(5, groups, 1); }).find("step 5: 1 of its 9 tokens"),
            std::string::npos);
  EXPECT_NE(error_of([&] { check_staleness(4, groups, 9); }).find("step 4: 2 of its 9 tokens"),
            std::string::npos)
      << "weights that do not exist yet";
}

TEST(Staleness, TokensOutsideTheBoundAreAnError) {
  const std::vector<ScoredGroup> groups = {group_of(4, {3}), group_of(2, {9}), group_of(5, {1})};
  EXPECT_NO_THROW(check_staleness(6, std::span(groups).subspan(2), 0));
  EXPECT_NO_THROW(check_staleness(6, groups, 3));
  EXPECT_NE(error_of([&] { check_staleness(6, groups, 2); }).find("step 6: 9 of its 13 tokens"),
            std::string::npos);
  EXPECT_NE(error_of([&] { check_staleness(5, groups, 2); }).find("step 5: 1 of its 13 tokens"),
            std::string::npos)
      << "weights that do not exist yet";
}

}  // namespace
}  // namespace lie
