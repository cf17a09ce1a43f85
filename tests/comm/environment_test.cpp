#include "common/comm/environment.h"
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <string>

#include "common/comm/host_cpus.h"
#include "tests/comm/run_command.h"

namespace lie {
namespace {

TEST(Environment, WideningGivesBoundRanksTheCpusOfMpirun) {
  const Outcome outcome = run_command(
      "timeout 40 " LIE_MPIEXEC
      " --oversubscribe --bind-to core:overload-allowed -n 2 " LIE_FAILING_JOB " print_cpus");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const std::string widened = ", widened to " + std::to_string(usable_cpus().size()) + "\n";
  EXPECT_EQ(count(outcome.output, widened), 2) << outcome.output;
}

TEST(Environment, MpiIsNotInitializedWithoutALauncher) {
  const Outcome outcome = run_command(LIE_FAILING_JOB " print_mpi");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "MPI not initialized\nrank 0 of 1 ends with 0\n");
}

TEST(Environment, SrunTasksThatAreNotConnectedAreRefused) {
  const Outcome outcome = run_command("SLURM_STEP_NUM_TASKS=4 " LIE_FAILING_JOB " succeed");
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(count(outcome.output, "srun --mpi=pmix"), 1) << outcome.output;
}

}  // namespace
}  // namespace lie
