#include "common/comm/host_cpus.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

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

pid_t parent_mpirun() {
  const pid_t parent = getppid();
  return is_mpirun(read_process(parent).name) ? parent : 0;
}

bool is_child_of_open_mpi() { return is_open_mpi_launcher(read_process(getppid()).name); }

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
