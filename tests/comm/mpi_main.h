// Shared by tests that run under MPI: link mpi_main.cpp in place of gtest_main.
#pragma once

#include "common/comm/job.h"

namespace lie {

/// Returns the job of this test program, which has 1, 2 or 4 ranks.
Job& test_job();

}  // namespace lie
