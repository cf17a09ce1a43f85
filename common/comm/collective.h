// The group operations of weight sync and gradient reduction, over MPI (host memory), NCCL (device
// memory) or threads of one process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace lie {

/// A fixed group of participants. Every method is collective: all members call it in the same
/// order, each from one thread. Results have the same bits on every member and in every run of the
/// same layout. Throws Error when the job is ending because another rank failed.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The root's bytes reach all members. Blocks.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Element-wise sum over members, added in rank order, in place on every member. Blocks.
  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
};

/// The group of one: every operation is the identity.
std::unique_ptr<Collective> solo_collective();

}  // namespace lie
