#include "learner/record/watch/stall_watch.h"

#include <gtest/gtest.h>

#include "common/base/stream.h"

namespace lie {
namespace {

using std::chrono::milliseconds, std::chrono::minutes;

TEST(StallWatch, WarnsOfSilenceAndAgainAtEachDoubling) {
  BoundedQueue<minutes> warnings(100);
  StallWatch watch(milliseconds(1), [&](minutes silent) { warnings.send(silent); });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(warnings.receive());
}

TEST(StallWatch, EndsAtOnceWithoutAWarning) {
  int warnings = 0;
  {
    StallWatch watch(minutes(30), [&](minutes) { ++warnings; });
    watch.moved();
  }
  EXPECT_EQ(warnings, 0);
}

}  // namespace
}  // namespace lie
