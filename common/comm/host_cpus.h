// The CPUs that a rank may use on its host, and the launcher that bound it to them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lie {

/// Returns the process id of Open MPI's mpirun if it is the parent of this process. Returns 0 under
/// another launcher, and under a daemon that mpirun started on another host.
pid_t parent_mpirun();

/// Returns whether the parent of this process is Open MPI's mpirun or one of its daemons.
bool is_child_of_open_mpi();

/// Returns the CPUs that this process may run on, ascending. It reads the scheduler affinity, so
/// cpusets are respected.
std::vector<int> usable_cpus();

/// Widens the core binding that Open MPI's mpirun gives each rank by default (with two ranks: one
/// core each) to the CPUs that mpirun itself may use. Bindings made by srun are unchanged.
void widen_binding();

}  // namespace lie
