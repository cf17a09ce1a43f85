#include "learner/padding_watch.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

// What a run whose steps all have these shares is told, and after which step; 0: nothing.
std::int64_t told_after(double accuracy, double length) {
  PaddingWatch watch;
  std::int64_t told = 0;
  for (std::int64_t step = 1; step <= 20; ++step) {
    const std::string said = watch.after(
        {.step = step,
         .values = {{"advantage_mass_accuracy", accuracy}, {"advantage_mass_length", length}}});
    if (said.empty()) continue;
    EXPECT_EQ(told, 0) << "said twice";
    EXPECT_NE(said.find("reward.length.min_group_accuracy"), std::string::npos) << said;
    told = step;
  }
  return told;
}

TEST(PaddingWatch, SpeaksOnceWhereLengthIsTheSignal) {
  EXPECT_EQ(told_after(0.03, 0.44), 8);
  EXPECT_EQ(told_after(0.08, 0.7), 8);
}

TEST(PaddingWatch, IsSilentWhereRightAnswersCount) {
  EXPECT_EQ(told_after(0.24, 0.5), 0);
  EXPECT_EQ(told_after(0.02, 0.01), 0) << "another term is the signal";
  EXPECT_EQ(told_after(0.0, 0.0), 0) << "no advantages, or no length reward";
}

TEST(PaddingWatch, LeavesOutStepsWithoutAdvantages) {
  PaddingWatch watch;
  for (std::int64_t step = 1; step <= 30; ++step) {
    const double length = step % 2 == 0 ? 0.9 : 0.0;
    const std::string said =
        watch.after({.step = step, .values = {{"advantage_mass_length", length}}});
    EXPECT_EQ(said.empty(), step != 16) << step << ": " << said;
  }
}

}  // namespace
}  // namespace lie
