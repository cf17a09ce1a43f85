// One copy of the weights for all actors of a host, both ends: one actor receives and writes it,
// the others compute with it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "model/operators/operators.h"
#include "model/weight_sync/shared_memory.h"

namespace lie {

/// An actor's end of its host's copy. One actor is the writer, all others are readers. The writer
/// writes only while all readers wait in update().
class HostCopy {
 public:
  /// Receives weights and returns their policy version, or nothing at the end of the run.
  using Receive = std::function<std::optional<std::int64_t>()>;

  /// `readers`: the number of readers of this host. Keeps a reference to the job.
  HostCopy(Job& job, SharedMemory memory, int readers, bool is_writer);

  bool is_writer() const { return is_writer_; }
  /// Returns the memory of the weights. It is read-only for readers.
  SharedFloats weights() const;
  /// The writer runs `receive` once all readers wait here. All return its result after it has
  /// returned. Polls progress while it waits.
  std::optional<std::int64_t> update(const Receive& receive);

 private:
  struct Board;
  Board& board() const;
  void wait_until(const std::function<bool()>& event);

  Job& job_;
  SharedMemory memory_;
  int readers_;
  bool is_writer_;
  std::int64_t round_ = 0;
};

/// Which actors of a run receive weights, and this rank's end of its host's copy.
struct HostCopies {
  std::vector<int> receivers;      // world ranks of the actors that receive by broadcast
  std::unique_ptr<HostCopy> mine;  // null: this rank is no actor, or holds weights of its own
};

/// Every actor holds weights of its own and receives them.
HostCopies no_host_copies(const RoleLayout& layout);

/// Makes a copy of `bytes` on each host with several actors. The actor of the lowest rank is its
/// writer. Where the memory cannot be shared, each actor of the host holds weights of its own, and
/// the first one logs a warning. Only actors need to pass `bytes`. Collective over the world.
HostCopies make_host_copies(Job& job, const RoleLayout& layout, std::size_t bytes);

}  // namespace lie
