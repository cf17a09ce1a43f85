#include "tools/run/config/devices.h"

#include <gtest/gtest.h>

#include <vector>

namespace lie {
namespace {

TEST(Devices, LocalGpuIndexCountsLearnersAndActorsOfAHost) {
  const std::vector<RankPlace> places = {{"a", {}}, {"a", {}}, {"a", {}}, {"b", {}}, {"b", {}}};
  const RoleLayout layout = plan_roles({}, places);  // learner, reward worker, three actors
  ASSERT_EQ(layout.reward_workers, std::vector<int>{1});
  EXPECT_EQ(local_gpu_index(layout, 0), 0);
  EXPECT_EQ(local_gpu_index(layout, 2), 1);
  EXPECT_EQ(local_gpu_index(layout, 3), 0);
  EXPECT_EQ(local_gpu_index(layout, 4), 1);
}

}  // namespace
}  // namespace lie
