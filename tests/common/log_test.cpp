#include "common/process/log.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

TEST(Log, LinesNameRoleAndRank) {
  ::testing::internal::CaptureStderr();
  const Log log("actor", 3);
  log.info("{} tickets", 5);
  log.warn("slow");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "[actor 3] 5 tickets\n[actor 3] warning: slow\n");
}

}  // namespace
}  // namespace lie
