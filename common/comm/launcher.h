// What mpirun or srun tells a process by its environment, before MPI has begun.
#pragma once

namespace lie::launcher {

/// Whether a launcher started this process as a rank: Open MPI, PMIx (srun --mpi=pmix), or PMI.
bool started_this_process();

/// This process's rank; 0 without a launcher.
int rank();

/// This process's number among those of its node; 0 without a launcher.
int rank_on_node();

/// Ranks of the job; 1 without a launcher.
int ranks();

/// Tasks of the Slurm step; 1 without Slurm.
int slurm_tasks();

/// Whether Open MPI's mpirun bound this process to cores.
bool bound_by_open_mpi();

}  // namespace lie::launcher
