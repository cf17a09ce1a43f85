#include "learner/record/signal_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lie {
namespace {

SignalWatch watch_of_length() {
  return {{{"accuracy", "R_acc"}, {"length", "R_len"}, {"redundancy", "R_red"}}, {"", "it grows"}};
}

MetricsRow row_of(std::int64_t step, double accuracy, double length, double redundancy = 0) {
  return {.step = step,
          .values = {{"advantage_mass_accuracy", accuracy},
                     {"advantage_mass_length", length},
                     {"advantage_mass_redundancy", redundancy}}};
}

// What a run whose steps all have these shares is told, and after which step; 0: nothing.
std::int64_t told_after(double accuracy, double length, double redundancy = 0) {
  SignalWatch watch = watch_of_length();
  std::int64_t told = 0;
  for (std::int64_t step = 1; step <= 20; ++step) {
    const auto said = watch.after(row_of(step, accuracy, length, redundancy));
    if (said.empty()) continue;
    EXPECT_EQ(told, 0) << "said twice";
    EXPECT_EQ(said.size(), 1);
    EXPECT_EQ(said[0], fmt::format("up to step 8 R_acc makes {:.0f} % of the advantages and R_len "
                                   "{:.0f} %: it grows",
                                   100 * accuracy, 100 * length));
    told = step;
  }
  return told;
}

TEST(SignalWatch, SpeaksOnceWhereLengthIsTheSignal) {
  EXPECT_EQ(told_after(0.03, 0.44, 0.54), 8);
  EXPECT_EQ(told_after(0.08, 0.7), 8);
}

TEST(SignalWatch, IsSilentWhereRightAnswersCount) {
  EXPECT_EQ(told_after(0.24, 0.5), 0);
  EXPECT_EQ(told_after(0.02, 0.01, 0.97), 0) << "another term is the signal";
  EXPECT_EQ(told_after(0.0, 0.0), 0) << "no advantages, or no length reward";
}

TEST(SignalWatch, LeavesOutStepsWithoutAdvantages) {
  SignalWatch watch = watch_of_length();
  for (std::int64_t step = 1; step <= 30; ++step) {
    const auto said = watch.after(row_of(step, 0, step % 2 == 0 ? 0.9 : 0.0));
    EXPECT_EQ(said.empty(), step != 16) << step;
  }
}

}  // namespace
}  // namespace lie
