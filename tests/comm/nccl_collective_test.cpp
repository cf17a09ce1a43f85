#include "common/comm/collective/nccl_collective.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/error.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

TEST(NcclCollective, ErrorWithoutCudaOrGpuNamesWhatIsMissing) {
  constexpr int kNoSuchDevice = 1000;
  try {
    nccl_collective(test_job(), solo_collective(), kNoSuchDevice);
    FAIL() << "there is no such device";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.find("without CUDA") != std::string::npos ||
                text.find("CUDA, choosing the device") == 0)
        << text;
  }
}

}  // namespace
}  // namespace lie
