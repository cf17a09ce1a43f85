#include "learner/record/step_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "common/base/error.h"
#include "learner/advantage/group_relative.h"

namespace lie {
namespace {

const RewardNames kRewards = {{"accuracy", "R_acc"}, {"length", "R_len"}};

void add(ScoredGroup& group, std::size_t length, bool right, float length_term) {
  Response response;
  response.ids.resize(length);
  response.behavior_log_probs.resize(length);
  response.finish = length >= 10 ? FinishReason::kLength : FinishReason::kEndOfSequence;
  Score score;
  score.verdict = right ? VerdictCode::kEqual : VerdictCode::kNoAnswer;
  score.rewards = {right ? 1.0F : 0.0F, length_term};
  score.coverage.distinct_ngrams = static_cast<std::int64_t>(length) - 1;
  score.coverage.ngrams = static_cast<std::int64_t>(length);
  score.coverage.largest_repeat = 2;
  group.rollout.responses.push_back(response);
  group.scores.push_back(score);
}

/// Returns three groups: all correct, mixed, all incorrect.
std::vector<ScoredGroup> three_groups() {
  std::vector<ScoredGroup> groups(3);
  for (std::size_t g = 0; g < 3; ++g) {
    groups[g].rollout.ticket.group = static_cast<std::int64_t>(g);
    groups[g].rollout.ticket.policy_version = 4;
    groups[g].rollout.prompt_ids.resize(5);
  }
  add(groups[0], 2, true, 0), add(groups[0], 4, true, 0);
  add(groups[1], 6, true, 0), add(groups[1], 8, false, -0.5F);
  add(groups[2], 10, false, -0.25F), add(groups[2], 6, false, 0);
  groups[0].scores[1].numbers.push_back({"command_sure", 0.75});
  groups[1].scores[0].numbers.push_back({"command_sure", 0.25});
  return groups;
}

MiniBatchUpdate mini_batch(double deviation, double norm, bool skipped) {
  MiniBatchUpdate update;
  update.stats.tokens = 18;
  update.stats.sequences = 3;
  update.stats.no_gradient_low = 2;
  update.stats.no_gradient_high = 1;
  update.stats.ratio_sum = 18;
  update.stats.ratio_min = 0.5;
  update.stats.ratio_max = 1.5;
  update.stats.max_deviation = deviation;
  update.stats.entropy_sum = 36;
  update.stats.quarter_entropy_sum = {9, 9, 9, 9};
  update.stats.quarter_tokens = {3, 5, 5, 5};
  update.optimizer = {norm, 1e-3, skipped};
  return update;
}

class StepMetrics : public ::testing::Test {
 protected:
  StepMetrics() {
    for (const auto& group : groups_) advantages_.push_back(group_advantages(group.scores, {}));
    update_.mini_batches = {mini_batch(0, 2, false), mini_batch(0.5, NAN, true)};
    StepOutcome step;
    step.step = 5;
    step.groups = groups_;
    step.evaluation = {groups_[0]};
    step.advantages = advantages_;
    step.update = update_;
    step.seconds = {.generate = 3, .update = 1};
    all_ = step_metrics(step, {.rewards = kRewards,
                               .coverage = {{20, 40, 50, 200}, {10, 40, 25, 200, 0, 0.002, "_15"}},
                               .roles = {{"actor", {3, 1}}, {"learner", {1, 3}}}});
    for (const auto& [name, value] : all_)
      EXPECT_TRUE(by_name_.emplace(name, value).second) << name;
  }
  double at(const std::string& name) const { return by_name_.at(name); }

  std::vector<ScoredGroup> groups_ = three_groups();
  std::vector<GroupAdvantages> advantages_;
  StepUpdate update_;
  Metrics all_;
  std::map<std::string, double> by_name_;
};

TEST_F(StepMetrics, ContainsTheQuantitiesThatPapersPlot) {
  for (const char* name : {"accuracy",
                           "response_length_mean",
                           "c_context_mean",
                           "r_context_mean",
                           "c_global_run",
                           "entropy_mean",
                           "reward_accuracy_mean",
                           "reward_length_mean",
                           "reward_length_nonzero_share",
                           "clip_fraction",
                           "first_minibatch_ratio_max_deviation",
                           "grad_norm",
                           "tokens_per_second",
                           "step_seconds",
                           "generate_seconds",
                           "eval_accuracy",
                           "approx_kl",
                           "learning_rate",
                           "truncation_rate",
                           "largest_repeat_mean",
                           "prompt_length_mean",
                           "verdict_out_of_budget_share",
                           "advantage_mass_length"}) {
    EXPECT_TRUE(by_name_.contains(name)) << name;
  }
}

TEST_F(StepMetrics, CountsResponsesAndGroups) {
  EXPECT_EQ(at("accuracy"), 0.5);
  EXPECT_EQ(at("response_length_mean"), 6.0);
  EXPECT_EQ(at("response_length_p50"), 6.0);
  EXPECT_EQ(at("response_length_p25"), 4.5);
  EXPECT_EQ(at("c_context_mean"), 5.0);
  EXPECT_NEAR(at("truncation_rate"), 1.0 / 6, 1e-15);
  EXPECT_EQ(at("verdict_no_answer_share"), 0.5);
  for (const char* mix : {"groups_all_correct_share", "groups_mixed_share",
                          "groups_all_incorrect_share", "groups_zero_advantage_share"}) {
    EXPECT_NEAR(at(mix), 1.0 / 3, 1e-15) << mix;
  }
  EXPECT_EQ(at("response_tokens"), 36.0);
  EXPECT_EQ(at("tokens_per_second"), 9.0);
  EXPECT_EQ(at("prompt_length_mean"), 5.0);
  EXPECT_EQ(at("staleness_mean"), 0.0);
}

TEST_F(StepMetrics, AdvantageMassIsTheShareOfEachTerm) {
  double sum = 0;
  for (const std::string name : {"accuracy", "length"}) sum += at("advantage_mass_" + name);
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_GT(at("advantage_mass_length"),
            0.5);  // the only term that differs within the all-incorrect group
}

TEST_F(StepMetrics, EveryTermHasTheShareOfNonzeroValues) {
  EXPECT_EQ(at("reward_accuracy_nonzero_share"), 0.5);
  EXPECT_NEAR(at("reward_length_nonzero_share"), 1.0 / 3, 1e-15);
}

TEST_F(StepMetrics, ProgramNumbersAverageOverResponsesThatHaveThem) {
  EXPECT_EQ(at("command_sure_mean"), 0.5);
  EXPECT_EQ(at("eval_command_sure_mean"), 0.75);
}

TEST_F(StepMetrics, UpdateIsSummedOverMiniBatches) {
  EXPECT_NEAR(at("clip_fraction"), 6.0 / 36, 1e-15);
  EXPECT_NEAR(at("clip_fraction_low"), 4.0 / 36, 1e-15);
  EXPECT_EQ(at("importance_ratio_mean"), 1.0);
  EXPECT_EQ(at("first_minibatch_ratio_max_deviation"), 0.0);
  EXPECT_EQ(at("entropy_mean"), 2.0);
  EXPECT_EQ(at("entropy_quarter_1_mean"), 3.0);
  EXPECT_EQ(at("skipped_updates"), 1.0);
  EXPECT_EQ(at("grad_norm"), 2.0);  // of the applied updates
}

TEST_F(StepMetrics, IncludesCoverageEvaluationAndIdleShares) {
  EXPECT_EQ(at("c_global_step"), 20.0);
  EXPECT_EQ(at("c_global_run"), 50.0);
  EXPECT_EQ(at("r_global"), 0.5);
  EXPECT_EQ(at("r_global_run"), 0.25);
  EXPECT_EQ(at("c_global_15_step"), 10.0);
  EXPECT_EQ(at("c_global_15_run"), 25.0);
  EXPECT_EQ(at("r_global_15_run"), 0.125);
  EXPECT_EQ(at("eval_accuracy"), 1.0);
  EXPECT_EQ(at("eval_response_length_mean"), 3.0);
  EXPECT_EQ(at("idle_share_actor"), 0.25);
  EXPECT_EQ(at("idle_share_learner"), 0.75);
}

TEST_F(StepMetrics, OnlyEstimatedCountsHaveAStandardError) {
  EXPECT_EQ(at("c_global_15_run_error"), 0.002);
  for (const char* exact : {"c_global_step", "c_global_run", "c_global_15_step"}) {
    EXPECT_FALSE(by_name_.contains(std::string(exact) + "_error")) << exact;
  }
}

TEST_F(StepMetrics, ValuesAreFinite) {
  for (const auto& [name, value] : all_) EXPECT_TRUE(std::isfinite(value)) << name;
}

double beyond_correct_share(std::vector<ScoredGroup> groups, double target_length) {
  StepOutcome step;
  for (ScoredGroup& group : groups) {
    for (Score& score : group.scores) score.target_length = target_length;
    step.advantages.push_back(group_advantages(group.scores, {}));
  }
  step.groups = std::move(groups);
  for (const auto& [name, value] : step_metrics(step, {kRewards})) {
    if (name == "incorrect_beyond_correct_share") return value;
  }
  return -1;
}

// By hand: within the three groups the sums of squared lengths are 2, 2, 8 and those of the
// products 0, -1, 0, so the slope is -1/12 a token; the scores are 1/6, -5/6 and 2/3.
TEST_F(StepMetrics, TheSlopeOfAccuracyOnLengthIsThatWithinGroups) {
  EXPECT_NEAR(at("length_accuracy_slope"), -100.0 / 12, 1e-12);
  EXPECT_NEAR(at("length_accuracy_slope_error"), 100 * std::sqrt(1.75) / 12, 1e-12);
}

TEST(WrongBeyondRight, CountsIncorrectResponsesLongerThanAllCorrectOnesAndBelowTheTarget) {
  std::vector<ScoredGroup> groups = three_groups();
  add(groups[1], 5, false, -0.5F);                  // shorter than the correct one of 6
  add(groups[1], 12, false, -0.5F);                 // truncated
  EXPECT_EQ(beyond_correct_share(groups, 9), 0.5);  // 8 of {8, 5}; 10 and 6 have no correct one
  EXPECT_EQ(beyond_correct_share(groups, 8), 0.0);  // 8 reaches the target
}

TEST(WrongBeyondRight, IsOmittedWithoutAMixedGroup) {
  EXPECT_EQ(beyond_correct_share({three_groups()[0], three_groups()[2]}, 9), -1);
}

TEST(DynamicSamplingMetrics, CountAllGeneratedGroups) {
  const auto all = three_groups();
  StepOutcome step;
  step.groups = {all[1]};
  step.dropped = {all[0], all[2], all[1]};
  step.wanted_groups = 2;
  step.advantages = {group_advantages(all[1].scores, {})};
  const Metrics metrics = step_metrics(step, {kRewards});
  const std::map<std::string, double> by_name(metrics.begin(), metrics.end());
  EXPECT_EQ(by_name.at("groups_generated"), 4);
  EXPECT_EQ(by_name.at("groups_dropped_all_correct"), 1);
  EXPECT_EQ(by_name.at("groups_dropped_all_incorrect"), 1);
  EXPECT_EQ(by_name.at("groups_surplus"), 1);
  EXPECT_EQ(by_name.at("groups_missing"), 1);
  EXPECT_EQ(by_name.at("generated_accuracy"), 0.5);
  EXPECT_EQ(by_name.at("accuracy"), 0.5) << "of the groups trained on";
  EXPECT_EQ(by_name.at("response_tokens"), 14 + 6 + 16 + 14);
  EXPECT_FALSE(by_name.contains("groups_dropped_mixed"));
}

TEST(DynamicSamplingMetrics, CountDroppedGroupsByTheSignalOfRewards) {
  const auto all = three_groups();
  StepOutcome step;
  step.groups = {all[1]};
  step.dropped = {all[0], all[2], all[1]};
  for (Score& score : step.dropped[1].scores) score.rewards.assign(kRewards.size(), 0.25F);
  for (Score& score : step.dropped[2].scores) score.rewards.assign(kRewards.size(), 0.25F);
  step.dropped[0].scores[0].rewards[0] += 0.5F;
  step.wanted_groups = 1;
  step.advantages = {group_advantages(all[1].scores, {})};
  const Metrics metrics = step_metrics(step, {.rewards = kRewards, .signal = SignalOf::kReward});
  const std::map<std::string, double> by_name(metrics.begin(), metrics.end());
  EXPECT_EQ(by_name.at("groups_surplus"), 1);
  EXPECT_EQ(by_name.at("groups_dropped_mixed"), 1);
  EXPECT_EQ(by_name.at("groups_dropped_all_correct") + by_name.at("groups_dropped_all_incorrect"),
            1);
}

TEST(FirstGroupsMetrics, ShowGroupsDrawnForOtherSteps) {
  StepOutcome step;
  step.step = 7;
  step.groups = three_groups();
  for (const ScoredGroup& group : step.groups) {
    step.advantages.push_back(group_advantages(group.scores, {}));
  }
  const auto metrics_of = [&](std::vector<std::int64_t> drawn) {
    for (std::size_t g = 0; g < 3; ++g) step.groups[g].rollout.ticket.step = drawn[g];
    const Metrics metrics = step_metrics(step, {kRewards});
    return std::map<std::string, double>(metrics.begin(), metrics.end());
  };
  const auto mixed = metrics_of({4, 6, 8});
  EXPECT_DOUBLE_EQ(mixed.at("drawn_earlier_share"), 2.0 / 3);
  EXPECT_EQ(mixed.at("drawn_earlier_max"), 3);
  EXPECT_DOUBLE_EQ(mixed.at("drawn_later_share"), 1.0 / 3);
  EXPECT_FALSE(metrics_of({7, 7, 7}).contains("drawn_earlier_share"));
}

TEST(StepMetricsOfStepZero, ContainOnlyTheEvaluation) {
  StepOutcome step;
  step.evaluation = three_groups();
  for (const auto& [name, value] : step_metrics(step, {})) {
    EXPECT_TRUE(name == "response_tokens" || name.starts_with("eval_")) << name;
  }
}

TEST(Quantile, InterpolatesAsNumpy) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_EQ(quantile(sorted, 0), 1.0);
  EXPECT_EQ(quantile(sorted, 0.5), 3.0);
  EXPECT_NEAR(quantile(sorted, 0.95), 7.4, 1e-12);
  EXPECT_EQ(quantile(sorted, 1), 8.0);
}

}  // namespace
}  // namespace lie
