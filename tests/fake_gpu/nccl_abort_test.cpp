// Jobs over the fake of NCCL end together when a rank fails, wherever the others wait.
#include <gtest/gtest.h>

#include <string>

#include "tests/comm/run_command.h"

namespace lie {
namespace {

/// Checks that all ranks ended with status 1 and aborted their communicators, if they had one, and
/// that one rank, which is `failed` unless that is empty, printed the report.
void expect_ends(const std::string& ending, const std::string& report, bool rank_1_joined = true,
                 const std::string& failed = "1") {
  constexpr int kRanks = 3;
  const Outcome outcome = run_command(
      "timeout -k 1 30 " LIE_MPIEXEC " --oversubscribe -n 3 " LIE_FAILING_NCCL_JOB " " + ending);
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "error on rank " + failed), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, report), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "ends with 1, 1 of 1 aborted"), kRanks - (rank_1_joined ? 0 : 1))
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "MPI_ABORT"), 0) << outcome.output;
}

TEST(NcclAbort, ARankFailsWhileOthersWaitForItToJoin) {
  expect_ends("while_others_join", "the model broke", false);
}
TEST(NcclAbort, ARankFailsWhileOthersWaitForItsValues) {
  expect_ends("while_others_receive", "the model broke");
}
TEST(NcclAbort, ARankFailsWhileOthersLeave) {
  expect_ends("while_others_leave", "the model broke");
}
TEST(NcclAbort, AKernelThatHangsEndsTheJobAtTheLimit) {
  expect_ends("at_the_limit", "NCCL, broadcast: not complete after 0.005 minutes", true, "");
}
TEST(NcclAbort, ADeviceFailsWhileOthersWaitForIt) {
  expect_ends("on_its_device", "CUDA, broadcast: code 700");
}

}  // namespace
}  // namespace lie
