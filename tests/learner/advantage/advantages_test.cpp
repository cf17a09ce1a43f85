#include "learner/advantage/advantages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/config/config.h"
#include "tests/learner/advantage/golden/advantages.h"
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
  EXPECT_NE(error.find("estimator: expected one of group-relative, maxrl, found \"gae\""),
            std::string::npos)
      << error;
}

/// Returns the groups of a golden step.
std::vector<ScoredGroup> golden_step(const golden::AdvantageStep& step) {
  std::vector<ScoredGroup> groups;
  for (const golden::AdvantageGroup& golden : step.groups) {
    ScoredGroup& group = groups.emplace_back();
    for (std::size_t i = 0; i < golden.terms.size(); ++i) {
      Score& score = group.scores.emplace_back();
      score.rewards = golden.terms[i];
      score.verdict = golden.correct[i] ? VerdictCode::kEqual : VerdictCode::kUnequal;
    }
  }
  return groups;
}

void expect_near_all(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(Advantages, EstimatorsAgreeWithNumPy) {
  for (const golden::AdvantageStep& step : golden::kAdvantageSteps) {
    SCOPED_TRACE(testing::PrintToString(step.settings));
    const auto found = step_advantages(golden_step(step), advantage_options(step.settings));
    ASSERT_EQ(found.size(), step.groups.size());
    for (std::size_t g = 0; g < found.size(); ++g) {
      expect_near_all(found[g].values, step.groups[g].values);
      expect_near_all(found[g].mass, step.groups[g].mass);
    }
  }
}

TEST(Advantages, MaxRlOfEqualRewardsOrOfNoCorrectResponseIsExactlyZero) {
  auto groups = groups_with_rewards({{0.1F, 0.1F, 0.1F}, {0.25F, 0.5F}});
  for (Score& score : groups[0].scores) score.verdict = VerdictCode::kEqual;
  const auto found = step_advantages(groups, advantage_options({"estimator=maxrl"}));
  EXPECT_EQ(found[0].values, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(found[1].values, (std::vector<double>{0, 0}));
}

TEST(Advantages, MaxRlRefusesGroupsOfOne) {
  const AdvantageOptions maxrl = advantage_options({"estimator=maxrl"});
  EXPECT_EQ(error_of([&] { check_group_size(maxrl, 2); }), "no error");
  EXPECT_EQ(error_of([&] { check_group_size(maxrl, 1); }),
            "rollout.samples_per_prompt is 1, but advantage.estimator maxrl compares at least 2 "
            "responses to a prompt; set samples_per_prompt to 2 or more, or another estimator");
  EXPECT_EQ(error_of([] { check_group_size({}, 1); }), "no error");
}

}  // namespace
}  // namespace lie
