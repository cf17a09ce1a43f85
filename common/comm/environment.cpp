#include "common/comm/environment.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/comm/launcher.h"

namespace lie {
namespace {

/// Name and parent of a process, from /proc/PID/stat. The parent is 0 if the file cannot be read.
struct Process {
  std::string name;
  pid_t parent = 0;
};

Process read_process(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > line.size()) return {};
  return {line.substr(open + 1, close - open - 1), std::atoi(line.c_str() + close + 4)};
}

bool is_mpirun(const std::string& name) {
  return name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "prterun";
}

bool is_open_mpi_launcher(const std::string& name) {
  return is_mpirun(name) || name == "orted" || name == "prted";
}

/// Returns the Open MPI launcher on this host that this process descends from, or 0.
pid_t open_mpi_launcher() {
  pid_t pid = getppid();
  while (pid > 1) {
    const Process process = read_process(pid);
    if (is_open_mpi_launcher(process.name)) return pid;
    pid = process.parent;
  }
  return 0;
}

}  // namespace

namespace mpi {
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
  if (is_open_mpi_launcher(read_process(getppid()).name)) prctl(PR_SET_PDEATHSIG, SIGKILL);
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

}  // namespace mpi

pid_t parent_mpirun() {
  const pid_t parent = getppid();
  return is_mpirun(read_process(parent).name) ? parent : 0;
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void widen_binding() {
  if (!launcher::bound_by_open_mpi()) return;
  const pid_t launcher = open_mpi_launcher();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (launcher == 0 || sched_getaffinity(launcher, sizeof set, &set) != 0) return;
  // This fails only if the CPUs were withdrawn meanwhile. The narrow binding then remains.
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace lie
