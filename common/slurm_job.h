// The Slurm job that a process belongs to.
#pragma once

#include <cstdint>
#include <string>

namespace lie {

/// Texts are empty outside of Slurm.
struct SlurmJob {
  std::string cluster;
  std::string id;             // SLURM_JOB_ID
  std::string step;           // SLURM_STEP_ID; empty in a batch script
  std::int64_t restarts = 0;  // how often the job was requeued before
};

/// As the environment says.
SlurmJob this_slurm_job();

/// Whether Slurm says that the job, or the step of it that `job` names, runs no more: it was
/// requeued since, or `squeue` does not list it as running. False where that cannot be told:
/// another cluster, no squeue, no answer. May take as long as squeue takes.
bool known_to_have_ended(const SlurmJob& job);

}  // namespace lie
