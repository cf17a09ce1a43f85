#include "common/base/fault.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "common/base/error.h"
#include "common/io/file.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

/// Writes three times to a file, with the environment variables of a fault.
void write_thrice(const char* fault, const std::string& path) {
  ::setenv("LIE_FAULT", fault, 1);
  ::setenv("LIE_FAULT_LOG", (path + ".points").c_str(), 1);
  std::string content;
  for (int i = 0; i < 3; ++i) {
    write_past_fault_point("journal", "abcd", [&](std::string_view bytes) {
      write_file_atomically(path, content += bytes);
    });
    pass_fault_point("response");
  }
  std::_Exit(0);
}

// Each test runs in its own process, because the environment is read only once.
class FaultDeathTest : public testing::Test {
 protected:
  FaultDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  TemporaryDirectory scratch_;
  std::string path_ = (scratch_.path() / "file").string();
};

TEST_F(FaultDeathTest, KillsTheProcessInTheNthPassOfItsPoint) {
  EXPECT_EXIT(write_thrice("journal:2", path_), testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FaultDeathTest, IgnoresOtherPoints) {
  EXPECT_EXIT(write_thrice("metrics:1", path_), testing::ExitedWithCode(0), "");
}

TEST_F(FaultDeathTest, RefusesMalformedSettings) {
  for (const char* wrong : {"journal", "journal:0", "journal:x"}) {
    EXPECT_EXIT(
        {
          try {
            write_thrice(wrong, path_);
          } catch (const Error& error) {
            std::fputs(error.what(), stderr);
            std::_Exit(1);
          }
        },
        testing::ExitedWithCode(1), "expected POINT:N");
  }
}

}  // namespace
}  // namespace lie
