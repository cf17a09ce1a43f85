// What tests under MPI share: link mpi_main.cpp in place of gtest_main.
#pragma once

#include "common/comm/job.h"

namespace lie {

/// The job of this test program; its world is 1, 2 or 4 ranks.
Job& test_job();

}  // namespace lie
