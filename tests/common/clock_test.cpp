#include "common/base/clock.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

void spend(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         seconds) {
  }
}

TEST(BusyIdleClock, SplitsTheTimeIntoBusyAndIdle) {
  const auto begin = std::chrono::steady_clock::now();
  BusyIdleClock clock;
  spend(0.004);
  EXPECT_EQ(clock.waiting([] {
    spend(0.008);
    return 7;
  }),
            7);
  const RoleClock sums = clock.read();
  const double all =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(sums.busy_seconds, 0.004);
  EXPECT_GE(sums.idle_seconds, 0.008);
  EXPECT_LE(sums.busy_seconds + sums.idle_seconds, all);
}

TEST(BusyIdleClock, ReadingDoesNotReset) {
  BusyIdleClock clock;
  clock.idle();
  const double first = clock.read().idle_seconds;
  spend(0.001);
  const RoleClock second = clock.read();
  EXPECT_GE(second.idle_seconds, first + 0.001);
}

}  // namespace
}  // namespace lie
