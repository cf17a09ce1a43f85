// The Slurm job that a process belongs to.
#pragma once

#include <cstdint>
#include <string>

namespace lie {

/// Identifies a Slurm job. Texts are empty outside of Slurm.
struct SlurmJob {
  std::string cluster;
  std::string id;             // SLURM_JOB_ID
  std::string step;           // SLURM_STEP_ID; empty in a batch script
  std::int64_t restarts = 0;  // number of times that the job was requeued
};

/// Returns the job of this process, from the environment.
SlurmJob this_slurm_job();

/// Returns whether the job, or its step, has certainly ended: it was requeued since, or `squeue`
/// does not list it as running. False if unknown: another cluster, no squeue, or no answer. Blocks
/// as long as squeue runs.
bool known_to_have_ended(const SlurmJob& job);

}  // namespace lie
