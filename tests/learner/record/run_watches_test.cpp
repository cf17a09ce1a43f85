#include "learner/record/watch/run_watches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/temporary_directory.h"

namespace lie {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

// Returns the warnings of `steps` steps with the same metrics, each with its step.
std::vector<std::string> warnings_of(const Values& values, std::int64_t steps) {
  LearningWatch watch;
  std::vector<std::string> all;
  for (std::int64_t step = 1; step <= steps; ++step) {
    for (const std::string& warning : watch.after({.step = step, .values = {values}})) {
      all.push_back(fmt::format("{}: {}", step, warning));
    }
  }
  return all;
}

TEST(LearningWatch, WarnsOnceOfEqualRewards) {
  const auto warnings =
      warnings_of({{"groups_zero_advantage_share", 1}, {"grad_norm", 0}, {"accuracy", 0}}, 20);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with("5: up to step 5 no response has had an advantage"));
  EXPECT_NE(warnings[0].find("no response is correct"), std::string::npos);
  EXPECT_TRUE(
      warnings_of(
          {{"groups_zero_advantage_share", 1}, {"grad_norm", 0.3}, {"distillation_share", 0.5}}, 20)
          .empty())
      << "a teacher gives advantages";
}

TEST(LearningWatch, WarnsOnceIfMostResponsesAreCut) {
  for (const double rate : {0.51, 1.0}) {
    const auto warnings = warnings_of({{"truncation_rate", rate}, {"grad_norm", 0.5}}, 20);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("rollout.max_response_tokens"), std::string::npos);
    EXPECT_NE(warnings[0].find("length reward"), std::string::npos);
  }
}

TEST(LearningWatch, WarnsOfAZeroGradientWithAdvantages) {
  const auto warnings = warnings_of({{"groups_zero_advantage_share", 0.2}, {"grad_norm", 0}}, 20);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("the gradient has been 0"), std::string::npos);
}

TEST(LearningWatch, SaysNothingOfARunThatLearns) {
  const Values learns = {{"groups_zero_advantage_share", 0.9},
                         {"grad_norm", 1e-6},
                         {"truncation_rate", 0.5},
                         {"skipped_updates", 0},
                         {"updates", 4}};
  EXPECT_EQ(warnings_of(learns, 20), std::vector<std::string>{});
}

/// Returns the steps at which LengthWatch warns in a run of 40 steps whose lengths and accuracies
/// change linearly over it.
std::vector<std::int64_t> length_warnings(double longer, double better, double slope,
                                          std::string* text = nullptr) {
  LengthWatch watch;
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step <= 40; ++step) {
    const double share = static_cast<double>(step) / 40;
    const MetricsRow row{.step = step,
                         .values = {{{"response_length_mean", 100 + longer * share},
                                     {"accuracy", 0.5 + better * share},
                                     {"length_accuracy_slope", slope},
                                     {"length_accuracy_slope_error", 0.1}}}};
    for (const std::string& warning : watch.after(row)) {
      steps.push_back(step);
      if (text != nullptr) *text = warning;
    }
  }
  return steps;
}

TEST(LengthWatch, WarnsOnceOfLengthThatDoesNotPay) {
  using Steps = std::vector<std::int64_t>;
  std::string text;
  EXPECT_EQ(length_warnings(80, 0, 0.01, &text), Steps{25});
  EXPECT_NE(text.find("from 106 to 146 tokens"), std::string::npos) << text;
  EXPECT_NE(text.find("(+0.010 per 100 tokens, standard error 0.022)"), std::string::npos) << text;
  EXPECT_EQ(length_warnings(80, -0.2, -0.5), Steps{25});
  EXPECT_EQ(length_warnings(20, 0, 0), Steps{}) << "a little longer";
  EXPECT_EQ(length_warnings(80, 0.2, 0), Steps{}) << "more accurate";
  EXPECT_EQ(length_warnings(80, 0, 0.05), Steps{}) << "longer ones are correct more often";
  EXPECT_EQ(length_warnings(35, 0, 0).front(), 29) << "a fifth longer later";
}

TEST(LearningWatch, AnInterruptedStreakStartsAgain) {
  LearningWatch watch;
  for (std::int64_t step = 1; step <= 20; ++step) {
    const double rate = step % 5 == 0 ? 0.5 : 1;
    EXPECT_TRUE(watch.after({.step = step, .values = {{"truncation_rate", rate}}}).empty());
  }
}

TEST(LearningWatch, StopsARunWhoseUpdatesAreAllSkipped) {
  const Values some = {{"skipped_updates", 1}, {"updates", 3}};
  EXPECT_EQ(warnings_of(some, 20).size(), 1u);
  const Values all = {{"skipped_updates", 4}, {"updates", 0}};
  EXPECT_EQ(warnings_of(all, 2).size(), 1u);
  const std::string error = error_of([&] { warnings_of(all, 3); });
  EXPECT_NE(error.find("step 3: no gradient was finite for 3 steps"), std::string::npos) << error;
}

SignalWatch watch_of_length() {
  return {{{"accuracy", "R_acc"}, {"length", "R_len"}, {"redundancy", "R_red"}}, {"", "it grows"}};
}

MetricsRow row_of(std::int64_t step, double accuracy, double length, double redundancy = 0) {
  return {.step = step,
          .values = {{"advantage_mass_accuracy", accuracy},
                     {"advantage_mass_length", length},
                     {"advantage_mass_redundancy", redundancy}}};
}

// Returns the step after which a run with these shares in every step gets its warning; 0: none.
std::int64_t warned_after(double accuracy, double length, double redundancy = 0) {
  SignalWatch watch = watch_of_length();
  std::int64_t warned = 0;
  for (std::int64_t step = 1; step <= 20; ++step) {
    const auto warnings = watch.after(row_of(step, accuracy, length, redundancy));
    if (warnings.empty()) continue;
    EXPECT_EQ(warned, 0) << "warned twice";
    EXPECT_EQ(warnings.size(), 1);
    EXPECT_EQ(warnings[0],
              fmt::format("up to step 8 R_acc makes {:.0f} % of the advantages and R_len "
                          "{:.0f} %: it grows",
                          100 * accuracy, 100 * length));
    warned = step;
  }
  return warned;
}

TEST(SignalWatch, WarnsOnceIfLengthDominatesTheAdvantages) {
  EXPECT_EQ(warned_after(0.03, 0.44, 0.54), 8);
  EXPECT_EQ(warned_after(0.08, 0.7), 8);
}

TEST(SignalWatch, DoesNotWarnIfAccuracyHasAFairShare) {
  EXPECT_EQ(warned_after(0.24, 0.5), 0);
  EXPECT_EQ(warned_after(0.02, 0.01, 0.97), 0) << "a term without a caution dominates";
  EXPECT_EQ(warned_after(0.0, 0.0), 0) << "no advantages, or no length reward";
}

TEST(SignalWatch, IgnoresStepsWithoutAdvantages) {
  SignalWatch watch = watch_of_length();
  for (std::int64_t step = 1; step <= 30; ++step) {
    const auto warnings = watch.after(row_of(step, 0, step % 2 == 0 ? 0.9 : 0.0));
    EXPECT_EQ(warnings.empty(), step != 16) << step;
  }
}

}  // namespace
}  // namespace lie
