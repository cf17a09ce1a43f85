// Who watches whom, and what follows from a loss: the decisions of liveness (liveness.h), without
// sockets, threads or time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/comm/liveness/rank_report.h"

namespace lie {

/// What neighbours in the tree tell each other. Those with a rank are about that rank, who need not
/// be the neighbour itself.
struct RankNews {
  enum class Kind : int {
    kRunning = 1,  // upwards, and from a parent of itself: role, host and activity, at each change
    kEnded,        // the same directions: leaves without a failure that is not reported
    kDied,         // upwards: lost as a neighbour
    kFailing,     // everywhere: a rank fails or stops by itself, and the job ends by Job's protocol
    kDeputy,      // downwards from rank 0: this rank reports if rank 0 is lost
    kOver,        // downwards: a death is being reported; end at once
    kOverSilent,  // downwards: the same of a silent host
  };
  Kind kind = Kind::kRunning;
  RankState rank = {};
};

/// How a neighbour was lost.
enum class Loss {
  kDied,    // the connection was closed without kEnded
  kSilent,  // its host no longer answers
};

/// That this process must end, because of a loss.
struct LossEnding {
  std::optional<RankState> rank = {};  // whom this process reports; none: another process reports
  std::string message = {};
  Loss loss = Loss::kDied;
  bool gives_time = false;  // the one who reports may find out later: mpirun ends it with this one
};

/// One rank's place in the tree: rank 0 above the first rank of each other host and above the ranks
/// of its own host; the first rank of a host above the others. Losses are passed up, and rank 0
/// reports. If rank 0 is lost, its deputy does: its lowest child on another host if there is one,
/// since its host may be lost as a whole. One thread.
class RankWatch {
 public:
  using Send = std::function<void(int neighbour, const RankNews&)>;
  RankWatch(RankState own, Send send);

  /// A connection stands, and its other end has said who it is.
  void add_parent(const RankState& parent);
  void add_child(const RankState& child);

  /// This rank's own news: a new activity; that it fails by itself.
  void tell(const RankState& own);
  void tell_failing();

  std::optional<LossEnding> hear(int neighbour, const RankNews& news);
  std::optional<LossEnding> lose(int neighbour, Loss loss);

  /// How many other ranks it has heard of.
  int count_others() const { return static_cast<int>(known_.size()); }

 private:
  struct Known {
    RankState state;
    int by = 0;  // the neighbour that told; itself for a child
    bool ended = false;
  };

  void note(int neighbour, const RankNews& news);
  void tell_all(const RankNews& news, int but = -1);
  void tell_children(const RankNews& news);
  void choose_deputy();
  LossEnding parent_lost(int parent, Loss loss);
  std::optional<LossEnding> child_lost(int child, Loss loss);
  LossEnding report(int rank, Loss loss);

  RankState own_;
  Send send_;
  std::optional<int> parent_;
  std::set<int> children_;
  std::map<int, Known> known_;  // of others
  int deputy_ = -1;
  bool quiet_ = false;  // losses are no longer news: the job fails or ends by itself
};

}  // namespace lie
