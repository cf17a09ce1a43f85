// Detects the loss of a rank, of a host or of the network to it (invariant E8). MPI does not detect
// it, or detects it too late and without our report.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "common/comm/environment.h"
#include "common/comm/liveness/rank_link.h"
#include "common/comm/liveness/rank_watch.h"

namespace lie {

/// A thread that runs in the background with its own connections along a tree (RankWatch): rank 0
/// is the parent of the first rank of each host, which is the parent of the others on its host.
///
/// A process that dies closes its connections, which is detected immediately. A host that becomes
/// unresponsive does not answer the kernel's keepalive probes, which is detected after 15 to 25 s.
/// A process that computes for minutes or is stopped by a signal is not lost, since its kernel
/// answers. No messages are sent while nothing changes.
///
/// After a loss, one process writes the report. Every process then exits with status 1 immediately,
/// from this thread, because the thread may neither call MPI nor wait for it. The files on disk are
/// as after `kill -9`, which a run survives (E2).
class Liveness {
 public:
  /// Starts watching in the background. Collective over all ranks. Ranks that find no connection
  /// within a minute are not watched; rank 0 logs a warning about them.
  explicit Liveness(const mpi::Environment& environment);
  /// Notifies the other ranks that this one has ended, with success or with its own report. They do
  /// not count it as a loss.
  ~Liveness();
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  /// Updates the state with which a loss of this rank is reported. This and announce_failure() are
  /// called by one thread.
  void update(const RankState& state);
  /// Announces that the job ends by Job's protocol. Losses are not reported from now on.
  void announce_failure();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_root() const { return own_.rank == 0; }
  void open_root();

  void run();
  void find_parent(Clock::time_point deadline);
  void connect_to_root();
  RankLink& open_link(Descriptor socket);
  void close_link(RankLink& link);
  void watch();
  bool may_accept() const;
  void wait();
  void accept_links(const Descriptor& listener);
  void close_strangers();
  void send_own_news();
  void serve(RankLink& link);
  void serve(RankLink& link, const RankNews& news);
  void identify(RankLink& link, const RankState& rank);
  void check_all_connected();
  void end_if(const std::optional<LossEnding>& ending);

  const RankState own_;  // its initial state
  const int size_;
  Rendezvous rendezvous_;
  Descriptor news_event_, stop_event_;  // events: news to pass on; stop
  Descriptor host_listener_;            // rank 0: listens for ranks of other hosts
  Descriptor neighbor_listener_;        // first rank of a host: listens for the others on it

  std::mutex mutex_;
  RankState state_;
  bool state_changed_ = false, failing_ = false;
  std::atomic<bool> stopping_ = false;

  // Used by the watching thread only.
  std::list<RankLink> links_;
  RankLink* parent_ = nullptr;
  RankWatch ranks_;
  std::optional<Clock::time_point> connect_deadline_;  // rank 0: set while some ranks are missing
  bool accepting_failed_ = false;                      // since the last wait
  std::thread thread_;
};

}  // namespace lie
