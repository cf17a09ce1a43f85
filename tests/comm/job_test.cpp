// Ranks end together (invariant E8): jobs of four ranks that fail in several ways.
#include "common/comm/job.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tests/comm/run_command.h"

namespace lie {
namespace {

Outcome run_job(const std::string& ending, int ranks = 4) {
  return run_command("timeout -k 1 40 " LIE_MPIEXEC " --oversubscribe -n " + std::to_string(ranks) +
                     " " LIE_FAILING_JOB " " + ending);
}

/// Checks that every rank left through MPI_Finalize with status 1, that exactly one printed the
/// report, and that nothing was aborted.
void expect_failed_as_one(const Outcome& outcome, const std::string& report,
                          double within_seconds) {
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "error on rank"), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, report), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "of 4 ends with 1"), 4) << outcome.output;
  EXPECT_EQ(count(outcome.output, "MPI_ABORT"), 0) << outcome.output;
  EXPECT_LT(outcome.seconds, within_seconds);
}

/// Returns whether a process runs. A dead process that its parent has not yet reaped does not run.
bool runs(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  return line.at(line.rfind(')') + 2) != 'Z';
}

/// Checks that none of the four processes that printed "pid N" runs a second later.
void expect_all_dead(const std::string& output) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::istringstream lines(output);
  int ranks = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("pid ", 0) != 0) continue;
    ++ranks;
    EXPECT_FALSE(runs(std::atoi(line.c_str() + 4))) << line;
  }
  EXPECT_EQ(ranks, 4) << output;
}

// Starting and ending four ranks takes one to three seconds on two busy cores.
constexpr double kSoon_seconds = 10;

TEST(Job, AllRanksSucceedTogether) {
  const Outcome outcome = run_job("succeed");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(count(outcome.output, "of 4 ends with 0"), 4) << outcome.output;
}

TEST(Job, AllRanksStopWithTheStatusForWorkLeft) {
  const Outcome outcome = run_job("stopped");
  EXPECT_EQ(outcome.status, 75);
  EXPECT_EQ(count(outcome.output, "of 4 ends with 75"), 4) << outcome.output;
  EXPECT_EQ(run_command(LIE_FAILING_JOB " stopped").status, 75);
}

TEST(Job, SignalToAnyRankLetsRank0StopTheJobEarly) {
  const Outcome outcome = run_job("interrupted");
  EXPECT_EQ(outcome.status, 75);
  EXPECT_EQ(count(outcome.output, "stopped by SIGUSR1\n"), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "of 4 ends with 75"), 4) << outcome.output;
  EXPECT_EQ(count(outcome.output, "error on rank"), 0) << outcome.output;
}

TEST(Job, FailureTakesPrecedenceOverAStop) {
  expect_failed_as_one(run_job("failed_during_a_stop"), "error on rank 1 (actor)", kSoon_seconds);
}

/// Checks that a process notes the first signal and ends by the second one as shells report it.
void expect_ended_by_second(const std::string& ending, const std::string& noted, int status) {
  const Outcome outcome = run_command("(" LIE_FAILING_JOB " " + ending + "; echo status $?)");
  EXPECT_EQ(count(outcome.output, "noted " + noted + "\n"), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "ending at once after the same signal again"), 1);
  EXPECT_EQ(count(outcome.output, "status " + std::to_string(status)), 1) << outcome.output;
}

TEST(Job, SecondStopSignalEndsTheProcessImmediately) {
  expect_ended_by_second("interrupted_twice", "SIGINT", 130);
  expect_ended_by_second("terminated_twice", "SIGTERM", 143);
}

TEST(Job, DifferentStopSignalsCountOnce) {
  for (const std::string ending : {"warned_and_terminated", "terminated_and_interrupted"}) {
    const Outcome outcome = run_command("(" LIE_FAILING_JOB " " + ending + "; echo status $?)");
    EXPECT_EQ(count(outcome.output, "status 0"), 1) << outcome.output;
  }
}

TEST(Job, RefusedStartsHaveAStatusOfTheirOwnOnAllRanks) {
  for (const auto& [ending, status] :
       {std::pair("start_is_refused", 78), std::pair("start_meets_a_lock", 69),
        std::pair("start_meets_a_transient_error", 1), std::pair("start_runs_out_of_memory", 1),
        std::pair("fails_after_the_start", 1)}) {
    const Outcome outcome = run_job(ending);
    EXPECT_EQ(outcome.status, status) << ending << ": " << outcome.output;
    EXPECT_EQ(count(outcome.output, "error on rank"), 1) << outcome.output;
    EXPECT_EQ(count(outcome.output, "error on rank 3"), 1) << outcome.output;
    EXPECT_EQ(count(outcome.output, "of 4 ends with " + std::to_string(status)), 4);
  }
}

TEST(Job, SingleRankReportsItsFailure) {
  const Outcome outcome = run_command(LIE_FAILING_JOB " while_waiting");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(count(outcome.output, "error on rank 0 (actor) of 1"), 1) << outcome.output;
}

TEST(Job, SingleReportNamesRankRoleHostAndActivity) {
  const Outcome outcome = run_job("while_waiting");
  expect_failed_as_one(outcome, "error on rank 3 (actor) of 4, host ", kSoon_seconds);
  EXPECT_EQ(count(outcome.output, ", generating for step 12: the model broke\n"), 1)
      << outcome.output;
}

TEST(Job, FailureReachesRanksInACollective) {
  expect_failed_as_one(run_job("in_a_collective"), "error on rank 1 (actor)", kSoon_seconds);
}

TEST(Job, FailureWithLargeMessagesInFlightEndsCleanly) {
  expect_failed_as_one(run_job("with_messages_in_flight"), "error on rank 1 (actor)",
                       kSoon_seconds);
}

TEST(Job, LowestRankReportsSimultaneousFailures) {
  expect_failed_as_one(run_job("two_at_once"), "error on rank 1 (actor)", kSoon_seconds);
}

TEST(Job, ComputingRankIsNotifiedWhenItNextWaits) {
  expect_failed_as_one(run_job("while_another_computes"), "error on rank 1 (actor)", kSoon_seconds);
}

TEST(Job, UnresponsiveRankIsAborted) {
  const Outcome outcome = run_job("while_another_is_stuck");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.status, 124) << "hangs";
  EXPECT_EQ(count(outcome.output, "error on rank 1 (actor)"), 1) << outcome.output;
  EXPECT_LT(outcome.seconds, kSoon_seconds + 5);
}

TEST(Job, FinishedRanksFailWithALaterFailure) {
  expect_failed_as_one(run_job("after_the_others_are_done"), "error on rank 3 (actor)",
                       kSoon_seconds);
}

/// Checks that all ranks ended soon, and that one of them reported the killed rank and its
/// activity.
void expect_killed_rank_is_reported(const Outcome& outcome, int rank) {
  EXPECT_TRUE(outcome.status == 137 || outcome.status == 1) << outcome.output;
  EXPECT_LT(outcome.seconds, kSoon_seconds);
  const std::string report = "error on rank " + std::to_string(rank) + " (learner) of 4, host ";
  EXPECT_EQ(count(outcome.output, "error on rank"), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, report), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, ", updating in step 7: the process has died"), 1);
  expect_all_dead(outcome.output);
}

TEST(Job, KilledRankIsReportedAndEndsAllRanks) {
  expect_killed_rank_is_reported(run_job("killed"), 1);
}

TEST(Job, KilledRank0IsReportedByAnotherRank) {
  expect_killed_rank_is_reported(run_job("first_killed"), 0);
}

TEST(Job, KilledRankEndsRanksThatDoNotCallMpi) {
  expect_killed_rank_is_reported(run_job("killed_during_computations"), 1);
}

TEST(Job, SuspendedRankIsNotLost) {
  const Outcome outcome = run_job("paused");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "of 4 ends with 0"), 4) << outcome.output;
  EXPECT_GT(outcome.seconds, 4);
}

TEST(Job, ConnectionsOfStrangersTakeOnlyAFewDescriptors) {
  // Without Open MPI's TCP transport, the port of the liveness watch is the only one of rank 0.
  ::setenv("OMPI_MCA_btl", "self,vader", 1);
  const Outcome outcome = run_job("strangers");
  ::unsetenv("OMPI_MCA_btl");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "of 4 ends with 0"), 4) << outcome.output;
  EXPECT_EQ(count(outcome.output, "may not be detected"), 0) << outcome.output;
}

TEST(Job, KilledLauncherLeavesNoOrphans) { expect_all_dead(run_job("launcher_killed").output); }

}  // namespace
}  // namespace lie
