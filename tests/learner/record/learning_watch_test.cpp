#include "learner/record/learning_watch.h"

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
  EXPECT_TRUE(warnings[0].starts_with("5: up to step 5 the responses of each group"));
  EXPECT_NE(warnings[0].find("no response is correct"), std::string::npos);
}

TEST(LearningWatch, WarnsOnceOfCutResponses) {
  const auto warnings = warnings_of({{"truncation_rate", 1}, {"grad_norm", 0.5}}, 20);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("rollout.max_response_tokens"), std::string::npos);
}

TEST(LearningWatch, WarnsOfAZeroGradientWithAdvantages) {
  const auto warnings = warnings_of({{"groups_zero_advantage_share", 0.2}, {"grad_norm", 0}}, 20);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("the gradient has been 0"), std::string::npos);
}

TEST(LearningWatch, SaysNothingOfARunThatLearns) {
  const Values learns = {{"groups_zero_advantage_share", 0.9},
                         {"grad_norm", 1e-6},
                         {"truncation_rate", 0.99},
                         {"skipped_updates", 0},
                         {"updates", 4}};
  EXPECT_EQ(warnings_of(learns, 20), std::vector<std::string>{});
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

}  // namespace
}  // namespace lie
