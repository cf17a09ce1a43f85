#include "common/comm/liveness/liveness.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/comm/liveness/rank_link.h"
#include "common/comm/liveness/rank_watch.h"
#include "common/process/log.h"

namespace lie {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFindEachOther{60};
constexpr int kAnswer_milliseconds = 3000;  // for an answer at one address of rank 0
constexpr int kAgain_milliseconds = 20;
// The reporter's kernel may detect an unresponsive host this much later than this one's.
constexpr std::chrono::seconds kTimeToReport{8};
// After the death of a process, the reporter may have to wait this long for a processor.
constexpr std::chrono::seconds kTimeToReportDeath{2};
// Time for mpirun to print what it was given. When a rank has ended, it kills the others after 1 s.
constexpr std::chrono::milliseconds kTimeToPassOn{500};

/// Broadcasts where rank 0 listens. Rank 0 must already listen. Collective over all ranks.
MeetingPoint share(MeetingPoint point) {
  mpi::check(MPI_Bcast(&point, sizeof point, MPI_BYTE, 0, MPI_COMM_WORLD),
             "telling where rank 0 listens");
  return point;
}

/// Raises the limit of open descriptors: at most one for each rank, besides those of the run
/// itself.
void allow_descriptors(int ranks) {
  rlimit limit = {};
  const auto needed = static_cast<rlim_t>(ranks) + 256;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Threads started during its lifetime receive no signals, which are for the main thread.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

class Liveness::Watcher {
 public:
  explicit Watcher(const mpi::Environment& environment);
  ~Watcher();

  void tell(const RankState& state);
  void tell_failing();

 private:
  bool is_root() const { return own_.rank == 0; }
  void open_root();

  void run();
  void find_parent(Clock::time_point deadline);
  void connect_to_root();
  RankLink& greet(Descriptor socket);
  void leave(RankLink& link);
  void watch();
  void wait();
  void take_in(const Descriptor& listener);
  void pass_on_own_news();
  void serve(RankLink& link);
  void serve(RankLink& link, const RankNews& news);
  void meet(RankLink& link, const RankState& rank);
  void see_who_is_here();
  void end_if(const std::optional<LossEnding>& ending);

  const RankState own_;  // its initial state
  const int size_;
  MeetingPoint point_;
  Descriptor news_, stop_;         // events: news to pass on; stop
  Descriptor hosts_, neighbours_;  // listeners of rank 0; of the first rank of a host

  std::mutex mutex_;
  RankState told_;
  bool is_told_ = false, failing_ = false;
  std::atomic<bool> stopping_ = false;

  // Used by the watching thread only.
  std::list<RankLink> links_;
  RankLink* parent_ = nullptr;
  RankWatch ranks_;
  std::optional<Clock::time_point> all_here_by_;  // rank 0: set while some ranks are missing
  std::thread thread_;
};

Liveness::Watcher::Watcher(const mpi::Environment& environment)
    : own_{.rank = environment.rank(), .host = environment.host()},
      size_(environment.size()),
      news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      told_(own_),
      ranks_(own_, [this](int neighbour, const RankNews& news) {
        for (RankLink& link : links_) {
          if (link.peer == neighbour) link.send(news);
        }
      }) {
  if (is_root()) open_root();
  point_ = share(point_);
  if (point_.port == 0) return;
  const WithoutSignals guard;
  thread_ = std::thread([this] { run(); });
}

Liveness::Watcher::~Watcher() {
  stopping_ = true;
  ::eventfd_write(stop_.number(), 1);
  if (thread_.joinable()) thread_.join();
}

void Liveness::Watcher::open_root() {
  try {
    allow_descriptors(size_);
    point_ = make_meeting_point();
    neighbours_ = listen_to_neighbours(point_, own_.host);
    hosts_ = listen_to_hosts(point_);
  } catch (const Error& error) {
    Log("liveness", 0).warn("{}; a lost rank or host may not be noticed", error.what());
  }
}

void Liveness::Watcher::tell(const RankState& state) {
  const std::lock_guard lock(mutex_);
  told_ = state;
  is_told_ = true;
  ::eventfd_write(news_.number(), 1);
}

void Liveness::Watcher::tell_failing() {
  const std::lock_guard lock(mutex_);
  failing_ = true;
  ::eventfd_write(news_.number(), 1);
}

void Liveness::Watcher::run() {
  try {
    const auto deadline = Clock::now() + kFindEachOther;
    if (is_root()) {
      all_here_by_ = deadline;
    } else {
      find_parent(deadline);
    }
    watch();
  } catch (const std::exception& error) {
    Log("liveness", own_.rank).warn("{}; a lost rank or host may not be noticed", error.what());
  }
  for (RankLink& link : links_) leave(link);
}

/// Finds a parent: rank 0 for the first rank of this host that listens for its neighbors, and that
/// rank for all others of the host.
void Liveness::Watcher::find_parent(Clock::time_point deadline) {
  while (!stopping_ && parent_ == nullptr && Clock::now() < deadline) {
    if (!neighbours_.is_open()) neighbours_ = listen_to_neighbours(point_, own_.host);
    if (neighbours_.is_open()) {
      connect_to_root();
    } else if (Descriptor socket = connect_to_neighbour(point_, own_.host); socket.is_open()) {
      parent_ = &greet(std::move(socket));
    }
    if (parent_ == nullptr) wait_for_link(-1, false, kAgain_milliseconds, stop_.number());
  }
}

/// Tries rank 0's addresses. An address may belong to another host or be unreachable, so it counts
/// only if rank 0 answers there.
void Liveness::Watcher::connect_to_root() {
  for (int i = 0; i < point_.address_count && parent_ == nullptr && !stopping_; ++i) {
    Descriptor socket = connect_to_host(point_, i, kAnswer_milliseconds, stop_.number());
    if (!socket.is_open()) continue;
    RankLink& link = greet(std::move(socket));
    if (wait_for_link(link.descriptor(), false, kAnswer_milliseconds, stop_.number())) link.read();
    if (link.speaks()) {
      parent_ = &link;
    } else {
      leave(link);
    }
  }
}

RankLink& Liveness::Watcher::greet(Descriptor socket) {
  RankLink& link = links_.emplace_back(std::move(socket), point_.token);
  link.send({RankNews::Kind::kRunning, own_});
  link.flush();
  return link;
}

/// Closes a connection such that the other side does not count a loss.
void Liveness::Watcher::leave(RankLink& link) {
  link.send({RankNews::Kind::kEnded, own_});
  link.flush();
  link.close();
}

void Liveness::Watcher::watch() {
  while (!stopping_) {
    for (RankLink& link : links_) serve(link);
    links_.remove_if([](const RankLink& link) { return link.descriptor() < 0; });
    see_who_is_here();
    for (RankLink& link : links_) link.flush();
    wait();
    take_in(neighbours_);
    take_in(hosts_);
    pass_on_own_news();
  }
}

/// Waits until data arrives, or until unsent data can be sent.
void Liveness::Watcher::wait() {
  std::vector<pollfd> descriptors;
  for (const Descriptor* each : {&news_, &stop_, &hosts_, &neighbours_}) {
    descriptors.push_back({each->number(), POLLIN, 0});
  }
  for (const RankLink& link : links_) {
    const int events = link.has_unsent() ? POLLIN | POLLOUT : POLLIN;
    descriptors.push_back({link.descriptor(), static_cast<short>(events), 0});
  }
  ::poll(descriptors.data(), descriptors.size(), all_here_by_ ? 1000 : -1);
}

void Liveness::Watcher::take_in(const Descriptor& listener) {
  while (listener.is_open()) {
    Descriptor socket = accept_link(listener);
    if (!socket.is_open()) return;
    links_.emplace_back(std::move(socket), point_.token);
  }
}

void Liveness::Watcher::pass_on_own_news() {
  eventfd_t ignored = 0;
  ::eventfd_read(news_.number(), &ignored);
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_told_, false)) ranks_.tell(told_);
  if (failing_) ranks_.tell_failing();
}

void Liveness::Watcher::serve(RankLink& link) {
  link.read();
  while (const std::optional<RankNews> news = link.next()) serve(link, *news);
  if (link.loss() && link.peer >= 0) end_if(ranks_.lose(link.peer, *link.loss()));
  if (!link.loss() && !link.is_foreign()) return;
  link.close();
  if (&link == parent_) parent_ = nullptr;
}

/// Processes one message. The first message of a link identifies the rank at its other end. It may
/// also be the last message, from a parent that accepted the link and then ended.
void Liveness::Watcher::serve(RankLink& link, const RankNews& news) {
  const bool is_first = link.peer < 0;
  if (is_first) meet(link, news.rank);
  if (!is_first || news.kind != RankNews::Kind::kRunning) end_if(ranks_.hear(link.peer, news));
}

void Liveness::Watcher::meet(RankLink& link, const RankState& rank) {
  link.peer = rank.rank;
  if (&link != parent_) return ranks_.add_child(rank);
  ranks_.add_parent(rank);
  const std::lock_guard lock(mutex_);
  ranks_.tell(told_);  // news from the time without a parent
}

void Liveness::Watcher::see_who_is_here() {
  if (!all_here_by_) return;
  const bool complete = ranks_.count_others() == size_ - 1;
  if (!complete && Clock::now() < *all_here_by_) return;
  all_here_by_.reset();
  if (complete) return;
  Log("liveness", 0)
      .warn(
          "of {} other ranks only {} have found port {} of {} within {} s (a firewall?): if a host "
          "of the others falls silent, the run will wait for it",
          size_ - 1, ranks_.count_others(), point_.port, own_.host, kFindEachOther.count());
}

/// Reports the loss and exits. The report comes first, because a launcher that also detected the
/// loss may leave no time for more. mpirun is killed after the loss of a host, because it would
/// wait for its daemon there long after all ranks have ended.
void Liveness::Watcher::end_if(const std::optional<LossEnding>& ending) {
  if (!ending) return;
  if (ending->rank) write_report(*ending->rank, size_, ending->message);
  const bool silent = ending->loss == Loss::kSilent;
  if (ending->gives_time) std::this_thread::sleep_for(silent ? kTimeToReport : kTimeToReportDeath);
  const pid_t waits = silent ? parent_mpirun() : 0;
  if (waits != 0) std::this_thread::sleep_for(kTimeToPassOn);
  for (RankLink& link : links_) link.flush();
  if (waits != 0) ::kill(waits, SIGKILL);
  ::_exit(1);
}

Liveness::Liveness(const mpi::Environment& environment)
    : watcher_(std::make_unique<Watcher>(environment)) {}

Liveness::~Liveness() = default;

void Liveness::tell(const RankState& state) { watcher_->tell(state); }

void Liveness::tell_failing() { watcher_->tell_failing(); }

}  // namespace lie
