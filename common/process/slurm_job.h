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

/// Whether Slurm says that the job, or the step that `job` names, has ended: requeued since, or not
/// listed as running by `squeue`. False if unknown: another cluster, no squeue, no answer. Takes as
/// long as squeue does.
bool known_to_have_ended(const SlurmJob& job);

}  // namespace lie
