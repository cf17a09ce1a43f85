#include "learner/early_stop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace lie {
namespace {

int no_signal() { return 0; }

TEST(EarlyStop, WithoutSignalAndLimitEveryStepBegins) {
  EarlyStop stop(no_signal);
  stop.saved_in(1e9);
  for (int step = 1; step <= 3; ++step) EXPECT_TRUE(stop.may_begin(step));
  EXPECT_EQ(stop.reason(), "");
}

TEST(EarlyStop, ASignalStopsBehindTheStepInProgress) {
  int signal = 0;
  EarlyStop stop([&] { return signal; });
  EXPECT_TRUE(stop.may_begin(7));
  signal = SIGUSR1;
  EXPECT_FALSE(stop.may_begin(8));
  EXPECT_EQ(stop.reason(), "stopped at step 7 by SIGUSR1");
}

TEST(EarlyStop, TheFirstStepOfAStartBeginsHoweverLittleTimeIsLeft) {
  EarlyStop stop(no_signal, 1);
  EXPECT_TRUE(stop.may_begin(1));
  EXPECT_FALSE(stop.may_begin(2));
  EXPECT_EQ(stop.reason().find("stopped at step 1: "), 0u) << stop.reason();
}

TEST(EarlyStop, TheTimeOfACheckpointIsLeftBehindTheStep) {
  EarlyStop stop(no_signal, 1000);
  EXPECT_TRUE(stop.may_begin(1));
  EXPECT_TRUE(stop.may_begin(2));
  stop.saved_in(950);  // times 1.1 is above what is left
  EXPECT_FALSE(stop.may_begin(3));
}

TEST(EarlyStop, TheEarlierOfJobAndLimitIsTheEndOfTheTime) {
  ::unsetenv("SLURM_JOB_END_TIME");
  EXPECT_EQ(seconds_left(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(seconds_left(2), 120);
  ::setenv("SLURM_JOB_END_TIME", std::to_string(unix_seconds() + 60).c_str(), 1);
  EXPECT_NEAR(seconds_left(0), 60, 5);
  EXPECT_NEAR(seconds_left(2), 60, 5);
  EXPECT_EQ(seconds_left(0.5), 30);
  ::unsetenv("SLURM_JOB_END_TIME");
}

}  // namespace
}  // namespace lie
