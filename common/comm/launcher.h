// Reads the environment variables of mpirun and srun, which works before MPI is initialized.
#pragma once

#include <cstdlib>
#include <initializer_list>

namespace lie::launcher {

/// Returns the number in the first of these variables that is set, or `otherwise`.
inline int first_number(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return otherwise;
}

/// Returns whether a launcher started this process as a rank: Open MPI, PMIx (srun --mpi=pmix), or
/// PMI.
inline bool started_this_process() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

/// Returns this process's rank; 0 without a launcher.
inline int rank() {
  return first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, 0);
}

/// Returns this process's number among those of its node; 0 without a launcher.
inline int rank_on_node() {
  return first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"}, 0);
}

/// Returns the number of ranks of the job; 1 without a launcher.
inline int ranks() {
  return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}

/// Returns the number of tasks of the Slurm step; 1 without Slurm.
inline int slurm_tasks() { return first_number({"SLURM_STEP_NUM_TASKS"}, 1); }

/// Returns whether Open MPI's mpirun bound this process to cores.
inline bool bound_by_open_mpi() { return std::getenv("OMPI_MCA_orte_bound_at_launch") != nullptr; }

}  // namespace lie::launcher
