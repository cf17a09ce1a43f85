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
