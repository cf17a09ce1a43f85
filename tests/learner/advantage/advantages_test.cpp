#include "learner/advantage/advantages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/config/config.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

std::vector<ScoredGroup> groups_with_rewards(const std::vector<std::vector<float>>& rewards) {
  std::vector<ScoredGroup> groups;
  for (const std::vector<float>& of_group : rewards) {
    ScoredGroup& group = groups.emplace_back();
    for (const float reward : of_group) group.scores.emplace_back().rewards = {reward};
  }
  return groups;
}

AdvantageOptions advantage_options(const std::vector<std::string>& settings) {
  AdvantageOptions options;
  FieldList fields;
  describe(fields, options);
  set_config(fields, settings);
  return options;
}

TEST(Advantages, TheDefaultEstimatorNormalizesEachGroupByItself) {
  const auto groups = groups_with_rewards({{0, 2}, {5, 5, 5}, {1, 0, 0, 0}});
  const auto found = step_advantages(groups, advantage_options({"normalize_by_std=false"}));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].values, (std::vector<double>{-1, 1}));
  EXPECT_EQ(found[1].values, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(found[2].values, (std::vector<double>{0.75, -0.25, -0.25, -0.25}));
  EXPECT_EQ(found[2].mass, std::vector<double>{1.5});
}

TEST(Advantages, TheFormerSpellingOfAKeyIsRead) {
  AdvantageOptions options = advantage_options({"normalise_by_std=false"});
  EXPECT_FALSE(options.of<GroupRelativeOptions>().normalize_by_std);
}

TEST(Advantages, AnUnknownEstimatorIsRefusedWithTheKnownOnes) {
  const std::string error = error_of([] { advantage_options({"estimator=gae"}); });
  EXPECT_NE(error.find("estimator: expected one of group-relative, found \"gae\""),
            std::string::npos)
      << error;
}

}  // namespace
}  // namespace lie
