#include "learner/schedule/early_stop.h"

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

TEST(EarlyStop, ASignalStopsAfterTheStepInProgress) {
  int signal = 0;
  EarlyStop stop([&] { return signal; });
  EXPECT_TRUE(stop.may_begin(7));
  signal = SIGUSR1;
  EXPECT_FALSE(stop.may_begin(8));
  EXPECT_EQ(stop.reason(), "stopped at step 7 by SIGUSR1");
}

TEST(EarlyStop, TheFirstStepBeginsHoweverLittleTimeIsLeft) {
  EarlyStop stop(no_signal, 1);
  EXPECT_TRUE(stop.may_begin(1));
  EXPECT_FALSE(stop.may_begin(2));
  EXPECT_EQ(stop.reason().find("stopped at step 1: "), 0u) << stop.reason();
}

TEST(EarlyStop, AStepBeginsOnlyIfItsCheckpointAlsoFitsTheTime) {
  EarlyStop stop(no_signal, 1000);
  EXPECT_TRUE(stop.may_begin(1));
  EXPECT_TRUE(stop.may_begin(2));
  stop.saved_in(950);  // times 1.1 exceeds the time left
  EXPECT_FALSE(stop.may_begin(3));
}

TEST(EarlyStop, WhileACheckpointIsWrittenTimeForTwoIsReserved) {
  EarlyStop stop(no_signal, 1000);
  EXPECT_TRUE(stop.may_begin(8));
  stop.saved_in(500);
  EXPECT_TRUE(stop.may_begin(9));
  stop.begins_saving();
  EXPECT_FALSE(
      stop.may_begin(10));  // 500 s for the checkpoint in progress, and 500 s for the next one
}

TEST(EarlyStop, ASignalStopsAStepDuringGenerationButNotAfterwards) {
  int signal = 0;
  EarlyStop stop([&] { return signal; });
  EXPECT_FALSE(stop.stops_generation()) << "the start policy is evaluated";
  EXPECT_TRUE(stop.may_begin(7));
  EXPECT_FALSE(stop.stops_generation());
  signal = SIGTERM;
  EXPECT_TRUE(stop.stops_generation());
  stop.has_groups();
  EXPECT_FALSE(stop.stops_generation()) << "the step is evaluated";
}

TEST(EarlyStop, AStopWithinAStepReportsThatGroupsAreKept) {
  EarlyStop stop([] { return SIGTERM; });
  EXPECT_FALSE(stop.may_begin(7));
  stop.stopped_within_step();
  EXPECT_EQ(stop.reason(),
            "stopped at step 6 by SIGTERM, within step 7, whose groups so far are kept");
}

TEST(EarlyStop, WhenOnlySavingFitsTheTimeTheStepStopsOnceAGroupIsKept) {
  EarlyStop stop(no_signal, 1000);
  EXPECT_TRUE(stop.may_begin(1));
  stop.group_is_kept();
  EXPECT_FALSE(stop.stops_generation());
  stop.saved_in(950);
  EXPECT_TRUE(stop.stops_generation());
  EarlyStop next_start(no_signal, 1);
  EXPECT_TRUE(next_start.may_begin(1));
  EXPECT_FALSE(next_start.stops_generation()) << "this start has kept nothing yet";
  next_start.group_is_kept();
  EXPECT_TRUE(next_start.stops_generation());
}

TEST(EarlyStop, TheTimeEndsWithTheJobOrTheLimitWhicheverIsEarlier) {
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
