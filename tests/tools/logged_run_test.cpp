// Tests which directories lie_replay takes for a logged run.
#include "tools/replay/logged_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"
#include "common/io/file.h"
#include "tests/temporary_directory.h"

namespace lie::replay {
namespace {

using testing::HasSubstr, testing::ThrowsMessage;

TEST(LoggedRun, RefusesADirectoryOfAnEvaluationByItsKind) {
  const TemporaryDirectory directory;
  make_directories(directory.path() / "trajectories");
  write_file_atomically(directory.path() / "config.yaml", "evaluation:\n  ks: [1, 2]\n");
  EXPECT_THAT([&] { load_logged_run(directory.path(), {}); },
              ThrowsMessage<Error>(HasSubstr("is a directory of lie_cluster eval")));
}

}  // namespace
}  // namespace lie::replay
