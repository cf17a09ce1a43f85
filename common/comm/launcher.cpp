#include "common/comm/launcher.h"

#include <cstdlib>
#include <initializer_list>

namespace lie::launcher {
namespace {

/// Returns the number in the first of these variables that is set, or `otherwise`.
int first_number(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return otherwise;
}

}  // namespace

bool started_this_process() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

int rank() {
  return first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, 0);
}

int rank_on_node() {
  return first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"}, 0);
}

int ranks() {
  return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}

int slurm_tasks() { return first_number({"SLURM_STEP_NUM_TASKS"}, 1); }

bool bound_by_open_mpi() { return std::getenv("OMPI_MCA_orte_bound_at_launch") != nullptr; }

}  // namespace lie::launcher
