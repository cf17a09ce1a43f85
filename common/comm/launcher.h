// Reads the environment variables of mpirun and srun, which works before MPI is initialized.
#pragma once

namespace lie::launcher {

/// Returns whether a launcher started this process as a rank: Open MPI, PMIx (srun --mpi=pmix), or
/// PMI.
bool started_this_process();

/// Returns this process's rank; 0 without a launcher.
int rank();

/// Returns this process's number among those of its node; 0 without a launcher.
int rank_on_node();

/// Returns the number of ranks of the job; 1 without a launcher.
int ranks();

/// Returns the number of tasks of the Slurm step; 1 without Slurm.
int slurm_tasks();

/// Returns whether Open MPI's mpirun bound this process to cores.
bool bound_by_open_mpi();

}  // namespace lie::launcher
