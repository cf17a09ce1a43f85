#include "common/comm/environment.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/comm/host_cpus.h"
#include "common/comm/launcher.h"

namespace lie::mpi {
namespace {

/// Throws Error if srun started ranks that are not connected, which happens without an MPI plugin.
void check_slurm_step(int size) {
  const int tasks = launcher::slurm_tasks();
  if (size == 1 && tasks > 1) {
    fail(
        "srun started {} tasks but MPI sees only this one: use srun --mpi=pmix (srun --mpi=list "
        "prints the types of this cluster), or mpirun",
        tasks);
  }
}

/// Makes the kernel kill this rank when mpirun dies; it would continue computing otherwise. Under
/// srun, Slurm ends the ranks.
void end_with_launcher() {
  if (is_child_of_open_mpi()) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void initialize() {
  end_with_launcher();
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "starting MPI");
  if (provided < MPI_THREAD_FUNNELED) {
    fail("this MPI does not support threads (MPI_THREAD_FUNNELED): use another build of MPI");
  }
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "setting MPI's error handler");
}

}  // namespace

void check(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw TransientError(fmt::format(
      "MPI, {}: {}", what, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

Environment::Environment() : launched_(launcher::started_this_process()), host_(host_name()) {
  if (launched_) {
    initialize();
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "getting the rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "getting the world's size");
  }
  check_slurm_step(size_);
}

Environment::~Environment() {
  if (launched_) MPI_Finalize();
}

}  // namespace lie::mpi
