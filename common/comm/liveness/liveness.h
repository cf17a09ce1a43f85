// Notices that a rank, a host or the network to it is lost (invariant E8): MPI does not, or too
// late and without our report.
#pragma once

#include <memory>

#include "common/comm/environment.h"
#include "common/comm/liveness/rank_report.h"

namespace lie {

/// A thread beside the one that works, with connections of its own along a tree (RankWatch): rank 0
/// above the first rank of each host, that above the others of its host. A process that dies closes
/// its connections: known at once. A host that falls silent does not answer the kernel's keepalive
/// questions: known after 15 to 25 s. A process that computes for minutes or is stopped by a signal
/// is not lost, since its kernel answers; and nothing is sent while nothing happens.
///
/// At a loss one process writes the report, and every one ends itself with status 1 at once, from
/// this thread: MPI may neither be called by it nor be waited for. What is on the disk is as after
/// `kill -9`, which a run survives (E2).
class Liveness {
 public:
  /// Collective over all ranks; watching begins beside the work. Ranks that find no connection
  /// within a minute are not watched, which rank 0 says.
  explicit Liveness(const mpi::Environment& environment);
  /// The rank has ended well, or says itself why not. Not a loss for the others.
  ~Liveness();
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  /// For the report, should this rank be lost. One thread calls these two.
  void tell(const RankState& state);
  /// The job ends by itself from now on (Job's protocol): losses are not reported any more.
  void tell_failing();

 private:
  class Watcher;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace lie
