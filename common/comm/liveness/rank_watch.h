// Decides which ranks watch each other and what follows from a loss: the logic of liveness.h
// without sockets, threads or time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/comm/liveness/failure_report.h"

namespace lie {

/// A message between neighbors in the tree. `rank` is the rank that the message is about, which may
/// differ from the neighbor that sent it.
struct RankNews {
  enum class Kind : int {
    // upward, and from a parent about itself: role, host and activity, at each change
    kRunning = 1,
    kEnded,    // same directions: the rank ends, and any failure of it is reported
    kDied,     // upward: a neighbor of this rank has lost it
    kFailing,  // to all: a rank fails or stops by itself, and the job ends by Job's protocol
    kDeputy,   // downward from rank 0: this rank reports if rank 0 is lost
    kOver,     // downward: a death is being reported; exit immediately
    kOverUnresponsive,  // downward: the same for an unresponsive host
  };
  Kind kind = Kind::kRunning;
  RankState rank = {};
};

/// How a neighbor was lost.
enum class Loss {
  kDied,          // the connection was closed without kEnded
  kUnresponsive,  // its host no longer responds
};

/// The instruction to end this process because of a loss.
struct LossEnding {
  // rank that this process reports; none: another process reports
  std::optional<RankState> rank = {};
  std::string message = {};
  Loss loss = Loss::kDied;
  // Wait before ending: the reporter may detect the loss later, and mpirun would end the reporter
  // as soon as this process ends.
  bool waits_for_reporter = false;
};

/// One rank's place in the tree. Rank 0 is the parent of the first rank of each other host and of
/// the ranks of its own host. The first rank of a host is the parent of the others on it. Losses
/// are passed up, and rank 0 reports them. If rank 0 is lost, its deputy reports. The deputy is its
/// lowest child, preferably on another host, since rank 0's whole host may be lost. Not
/// thread-safe.
class RankWatch {
 public:
  using Send = std::function<void(int neighbor, const RankNews&)>;
  RankWatch(RankState own, Send send);

  /// Call these when a connection is established and its other end has identified itself.
  void add_parent(const RankState& parent);
  void add_child(const RankState& child);

  /// Pass on that this rank has a new role or activity, or that it fails by itself.
  void update(const RankState& own);
  void announce_failure();

  std::optional<LossEnding> receive(int neighbor, const RankNews& news);
  std::optional<LossEnding> lose(int neighbor, Loss loss);

  /// Returns the number of other ranks that this one has news of.
  int count_others() const { return static_cast<int>(known_.size()); }

 private:
  struct Known {
    RankState state;
    int sender = 0;  // neighbor that sent the news; a child sends its own
    bool ended = false;
  };

  void store(int neighbor, const RankNews& news);
  void send_to_all(const RankNews& news, int except = -1);
  void send_to_children(const RankNews& news);
  void choose_deputy();
  LossEnding parent_lost(int parent, Loss loss);
  std::optional<LossEnding> child_lost(int child, Loss loss);
  LossEnding report(int rank, Loss loss);

  RankState own_;
  Send send_;
  std::optional<int> parent_;
  std::set<int> children_;
  std::map<int, Known> known_;  // of other ranks, by rank
  int deputy_ = -1;
  bool ignores_losses_ = false;  // losses are no longer reported: the job fails or ends by itself
};

}  // namespace lie
