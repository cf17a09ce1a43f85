// Runs GoogleTest on every rank. The program fails on all ranks if it fails on any. It cannot hang
// if one rank leaves a test early, because waiting ranks are notified of the failure.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

Job* the_job = nullptr;

/// Prints only failures; used on all ranks but the first.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", the_job->rank(), result.file_name(),
                 result.line_number(), result.message());
  }
};

void be_quiet() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailurePrinter);
}

}  // namespace

Job& test_job() { return *the_job; }

}  // namespace lie

int main(int argc, char** argv) {
  lie::mpi::Environment environment;
  lie::Job job(environment);
  lie::the_job = &job;
  testing::InitGoogleTest(&argc, argv);
  if (job.rank() > 0) lie::be_quiet();
  job.set_role("test");
  return job.run([] {
    if (RUN_ALL_TESTS() != 0) lie::fail("tests failed on this rank, see above");
  });
}
