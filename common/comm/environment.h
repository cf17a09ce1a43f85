// Initialization and finalization of MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

using Bytes = std::vector<std::byte>;

namespace mpi {

/// Throws Error with MPI's error text unless `code` is MPI_SUCCESS. `what` names the attempted
/// action.
void check(int code, std::string_view what);

/// Initializes MPI, and finalizes it on destruction. In a process that neither mpirun nor srun
/// started, the world is this process alone and MPI is never initialized, which saves its start-up
/// time. There is one Environment per process. main creates it before anything else of this folder.
/// Only the thread that created it may call MPI.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& host() const { return host_; }

  /// Keeps the buffer of an incomplete message until MPI is finalized. When a job fails, MPI may
  /// still read or write the buffer after the channel that owned it is destroyed.
  void keep(std::shared_ptr<const Bytes> buffer) { kept_.push_back(std::move(buffer)); }

 private:
  bool launched_ = false;
  int rank_ = 0, size_ = 1;
  std::string host_;
  std::vector<std::shared_ptr<const Bytes>> kept_;
};

}  // namespace mpi

}  // namespace lie
