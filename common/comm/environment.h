// MPI's beginning and end, and what a rank knows about itself and its host.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/traffic.h"

namespace lie {

using Bytes = std::vector<std::byte>;

namespace mpi {

/// Throws Error with MPI's own words if `code` is not MPI_SUCCESS; `what` says what was tried.
void check(int code, std::string_view what);

/// Initialises MPI and finalizes it on destruction. Started without mpirun or srun, the world is
/// this process alone and MPI stays untouched, which saves its start-up time. One per process, made
/// by main before anything else of this folder; only the thread that made it may call MPI.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& host() const { return host_; }

  Traffic& traffic() { return traffic_; }

  /// Keeps the buffer of an incomplete message until MPI is finalized: when a job fails, MPI may
  /// read or write it after the channel that owned it is gone.
  void keep(std::shared_ptr<const Bytes> buffer) { kept_.push_back(std::move(buffer)); }

 private:
  Traffic traffic_;  // first: its clock counts MPI's beginning
  bool launched_ = false;
  int rank_ = 0, size_ = 1;
  std::string host_;
  std::vector<std::shared_ptr<const Bytes>> kept_;
};

}  // namespace mpi

/// Open MPI's mpirun, where it started this process itself; 0: another launcher, or one of mpirun's
/// daemons on other hosts.
pid_t parent_mpirun();

/// The CPUs this process may run on, ascending (scheduler affinity, so cpusets are respected).
std::vector<int> usable_cpus();

/// Undoes the binding that Open MPI's mpirun gives each rank by default (with two ranks: one core
/// each): takes over the CPUs that mpirun itself may use. Bindings made by srun stay as they are.
void widen_binding();

}  // namespace lie
