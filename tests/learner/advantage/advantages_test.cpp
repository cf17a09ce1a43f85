#include "learner/advantage/advantages.h"

#include <gtest/gtest.h>

#include <cmath>
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
  EXPECT_NE(error.find("estimator: expected one of group-relative, gdpo, maxrl, pass_at_k, batch, "
                       "length_weighted, vl_norm, found \"gae\""),
            std::string::npos)
      << error;
}

const RewardNames kTerms = {{"accuracy", "R_acc"}, {"length", "R_len"}};

/// Returns the groups of a golden step.
std::vector<ScoredGroup> golden_step(const golden::AdvantageStep& step) {
  std::vector<ScoredGroup> groups;
  for (const golden::AdvantageGroup& golden : step.groups) {
    ScoredGroup& group = groups.emplace_back();
    for (std::size_t i = 0; i < golden.terms.size(); ++i) {
      Score& score = group.scores.emplace_back();
      score.rewards = golden.terms[i];
      score.verdict = golden.correct[i] ? VerdictCode::kEqual : VerdictCode::kUnequal;
      group.rollout.responses.emplace_back().ids.resize(golden.lengths[i]);
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
    AdvantageOptions options = advantage_options(step.settings);
    set_reward_terms(options, kTerms);
    const auto found = step_advantages(golden_step(step), options);
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

/// Returns an error of set_reward_terms() for these weights of GDPO.
std::string error_of_weights(const std::string& weights) {
  return error_of([&] {
    AdvantageOptions options =
        advantage_options({"estimator=gdpo", "gdpo.weights=[" + weights + "]"});
    set_reward_terms(options, kTerms);
  });
}

TEST(Advantages, WeightsOfGdpoNameRewardTermsOnceEach) {
  EXPECT_EQ(error_of_weights("length=0.5, accuracy=0"), "no error");
  EXPECT_EQ(error_of_weights("lenght=0.5"),
            "advantage.gdpo.weights: \"lenght\" is not a reward term of this run; expected one of "
            "accuracy, length");
  EXPECT_EQ(error_of_weights("length=1, length=2"),
            "advantage.gdpo.weights names the term length twice; remove one");
  EXPECT_EQ(error_of_weights("length=0, accuracy=0"),
            "advantage.gdpo.weights: all are 0, so that nothing is learned; set one above 0");
  for (const char* bad : {"length", "length=", "length=-1", "length=nan", "length=a"}) {
    EXPECT_NE(error_of_weights(bad).find("such as length=0.5"), std::string::npos) << bad;
  }
}

TEST(Advantages, TheScaleOfATermHasNoEffectOnGdpoButItsWeightHas) {
  const auto scaled = [](double scale, const std::string& weight) {
    auto groups = groups_with_rewards({{1, 0, 0}});
    const std::vector<double> lengths = {0, -1, -3};
    for (std::size_t i = 0; i < 3; ++i) {
      groups[0].scores[i].rewards.push_back(static_cast<float>(scale * lengths[i]));
    }
    AdvantageOptions options =
        advantage_options({"estimator=gdpo", "gdpo.weights=length=" + weight});
    set_reward_terms(options, kTerms);
    return step_advantages(groups, options)[0].values;
  };
  const std::vector<double> one = scaled(1, "1"), eighth = scaled(0.125, "1");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(one[i], eighth[i], 1e-4);
  EXPECT_GT(std::abs(scaled(1, "0.1")[1] - one[1]), 0.1);
}

TEST(Advantages, EqualRewardsGiveExactlyZeroWithEveryEstimator) {
  auto groups = groups_with_rewards({{0.1F, 0.1F, 0.1F}, {0.1F, 0.1F, 0.1F}});
  for (ScoredGroup& group : groups) {
    for (Score& score : group.scores) {
      score.verdict = VerdictCode::kEqual;
      group.rollout.responses.emplace_back().ids.resize(group.rollout.responses.size());
    }
  }
  for (const char* name :
       {"group-relative", "gdpo", "maxrl", "pass_at_k", "batch", "length_weighted", "vl_norm"}) {
    for (const char* baseline : {"group", "step"}) {
      const auto options = advantage_options(
          {std::string("estimator=") + name, std::string("batch.baseline=") + baseline});
      for (const GroupAdvantages& found : step_advantages(groups, options)) {
        EXPECT_EQ(found.values, (std::vector<double>{0, 0, 0})) << name;
        EXPECT_EQ(found.mass, std::vector<double>{0}) << name;
      }
      EXPECT_TRUE(step_advantages({}, options).empty()) << name;
    }
  }
}

TEST(Advantages, PassAtKHasThePublishedValues) {
  auto groups = groups_with_rewards({{1, 1, 0, 0, 0, 0, 0, 0}});
  for (std::size_t i = 0; i < 2; ++i) groups[0].scores[i].verdict = VerdictCode::kEqual;
  const auto found = step_advantages(groups, advantage_options({"estimator=pass_at_k"}));
  EXPECT_NEAR(found[0].values[1], 0.5222, 5e-5);
  EXPECT_NEAR(found[0].values[2], -0.1741, 5e-5);
  for (std::size_t i = 2; i < 5; ++i) groups[0].scores[i].verdict = VerdictCode::kEqual;
  const auto fewer_than_k = step_advantages(groups, advantage_options({"estimator=pass_at_k"}));
  EXPECT_EQ(fewer_than_k[0].values, std::vector<double>(8, 0.0)) << "every subset passes";
}

TEST(Advantages, AGroupOfOneNeedsTheBaselineOfTheStep) {
  const AdvantageOptions of_group = advantage_options({"estimator=batch"}),
                         of_step = advantage_options({"estimator=batch", "batch.baseline=step"});
  EXPECT_NE(error_of([&] { check_group_size(of_group, 1); }), "no error");
  EXPECT_EQ(error_of([&] { check_group_size(of_step, 1); }), "no error");
  EXPECT_FALSE(compares_groups(of_group));
  EXPECT_TRUE(compares_groups(of_step));
  EXPECT_FALSE(compares_groups(AdvantageOptions())) << "group-relative";
}

TEST(Advantages, PassAtKRefusesSmallGroupsAndTermsThatItWouldIgnore) {
  const AdvantageOptions options = advantage_options({"estimator=pass_at_k", "pass_at_k.k=8"});
  EXPECT_EQ(error_of([&] { check_group_size(options, 8); }), "no error");
  EXPECT_NE(error_of([&] { check_group_size(options, 7); }).find("compares at least 8 responses"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { check_reward_terms(options, std::vector<std::string>{"accuracy"}); }),
            "no error");
  const std::vector<std::string> terms = {"accuracy", "length", "redundancy"};
  EXPECT_NE(error_of([&] {
              check_reward_terms(options, terms);
            }).find("would ignore the reward terms length, redundancy; set"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { check_reward_terms(AdvantageOptions(), terms); }), "no error");
}

TEST(Advantages, TheLengthWeightedBaselineHasThePublishedValue) {
  auto groups = groups_with_rewards({{1, 1, 1, 0}});
  for (const std::size_t length : {100, 200, 300, 150}) {
    groups[0].rollout.responses.emplace_back().ids.resize(length);
  }
  const auto found = step_advantages(groups, advantage_options({"estimator=length_weighted"}));
  EXPECT_NEAR(found[0].values[0], 0.2, 1e-12);
  EXPECT_NEAR(found[0].values[3], -0.8, 1e-12);
}

TEST(Advantages, WeightsByLengthHaveThePublishedValues) {
  const std::vector<double> lengths = {100, 200, 300, 150};
  const std::vector<double> expected = {1.4435, 0.8583, 0.6332, 1.0650};
  const std::vector<double> found = length_weights(lengths, 0.75);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 5e-5);
  EXPECT_EQ(length_weights(std::vector<double>{3}, 0.75), std::vector<double>{1});
  EXPECT_EQ(length_weights(lengths, 0), std::vector<double>(4, 1.0));
}

TEST(Advantages, EstimatorsByLengthNameTheAggregationThatTheyAreMeantFor) {
  EXPECT_EQ(wanted_aggregation(advantage_options({})), "");
  EXPECT_EQ(wanted_aggregation(advantage_options({"estimator=length_weighted"})), "token-mean");
  EXPECT_EQ(wanted_aggregation(advantage_options({"estimator=vl_norm"})), "constant");
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
