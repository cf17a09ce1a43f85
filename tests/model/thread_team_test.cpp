#include "model/operators/thread_team.h"

#include <gtest/gtest.h>

#include <chrono>

#include "common/base/error.h"

namespace lie {
namespace {

TEST(ThreadTeam, RunReturnsAfterEveryMemberRanOnce) {
  for (const int size : {1, 2, 5}) {
    ThreadTeam team(size);
    std::vector<int> runs(static_cast<std::size_t>(size));
    for (int round = 1; round <= 2000; ++round) {
      team.run([&](int member) { ++runs[static_cast<std::size_t>(member)]; });
      for (const int count : runs) ASSERT_EQ(count, round);
    }
  }
}

TEST(ThreadTeam, EveryTaskRunsOnce) {
  ThreadTeam team(3);
  for (const std::int64_t tasks : {0, 1, 2, 100}) {
    std::vector<int> runs(static_cast<std::size_t>(tasks));
    team.each(tasks, [&](std::int64_t task, int) { ++runs[static_cast<std::size_t>(task)]; });
    for (const int count : runs) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadTeam, RunWithinARunThrows) {
  ThreadTeam team(2);
  team.run([&](int member) {
    if (member == 0) {
      EXPECT_THROW(team.run([](int) {}), Error);
    }
  });
}

TEST(ThreadTeam, MembersWakeUpAfterSleeping) {
  ThreadTeam team(2);
  std::atomic<int> runs{0};
  team.run([&](int) { ++runs; });
  // Longer than any member spins, so that members sleep. The result does not depend on this time.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  team.run([&](int) { ++runs; });
  EXPECT_EQ(runs, 4);
}

}  // namespace
}  // namespace lie
