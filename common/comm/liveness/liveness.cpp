#include "common/comm/liveness/liveness.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/comm/host_cpus.h"
#include "common/process/log.h"

namespace lie {
namespace {

constexpr std::chrono::seconds kConnectTimeout{60};
constexpr int kAnswer_milliseconds = 3000;  // for an answer at one address of rank 0
constexpr int kRetry_milliseconds = 20;
// Connections may come from other programs, such as port scanners. A connection that has not shown
// the job's token by then is closed. Only a few more connections than ranks are open at once.
constexpr std::chrono::seconds kTimeToShowToken{10};
constexpr std::size_t kSpareLinks = 64;
// The reporter's kernel may detect an unresponsive host this much later than this one's.
constexpr std::chrono::seconds kTimeToReport{8};
// After the death of a process, the reporter may have to wait this long for a processor.
constexpr std::chrono::seconds kTimeToReportDeath{2};
// Time for mpirun to print the report. When a rank has ended, mpirun kills the others after 1 s.
constexpr std::chrono::milliseconds kTimeToForward{500};

/// Broadcasts where rank 0 listens. Rank 0 must already listen. Collective over all ranks.
Rendezvous broadcast_rendezvous(Rendezvous rendezvous) {
  mpi::check(MPI_Bcast(&rendezvous, sizeof rendezvous, MPI_BYTE, 0, MPI_COMM_WORLD),
             "broadcasting where rank 0 listens");
  return rendezvous;
}

/// Makes an event that threads wait for. Throws Error.
int make_event() {
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) fail("cannot make an event: {}; raise ulimit -n", std::strerror(errno));
  return event;
}

/// Raises the limit of open descriptors: one for each rank and each spare link, besides those of
/// the run itself.
void allow_descriptors(int ranks) {
  rlimit limit = {};
  const auto needed = static_cast<rlim_t>(ranks) + kSpareLinks + 256;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Liveness::Liveness(const mpi::Environment& environment)
    : own_{.rank = environment.rank(), .host = environment.host()},
      size_(environment.size()),
      news_event_(make_event()),
      stop_event_(make_event()),
      state_(own_),
      ranks_(own_, [this](int neighbor, const RankNews& news) {
        for (RankLink& link : links_) {
          if (link.peer == neighbor) link.send(news);
        }
      }) {
  if (is_root()) open_root();
  rendezvous_ = broadcast_rendezvous(rendezvous_);
  if (rendezvous_.port == 0) return;
  // The new thread inherits the mask: signals are for the main thread.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Liveness::~Liveness() {
  stopping_ = true;
  ::eventfd_write(stop_event_.number(), 1);
  if (thread_.joinable()) thread_.join();
}

void Liveness::open_root() {
  try {
    allow_descriptors(size_);
    rendezvous_ = make_rendezvous();
    neighbor_listener_ = listen_to_neighbors(rendezvous_, own_.host);
    host_listener_ = listen_to_hosts(rendezvous_);
  } catch (const Error& error) {
    Log("liveness", 0).warn("{}; a lost rank or host may not be detected", error.what());
  }
}

void Liveness::update(const RankState& state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  state_changed_ = true;
  ::eventfd_write(news_event_.number(), 1);
}

void Liveness::announce_failure() {
  const std::lock_guard lock(mutex_);
  failing_ = true;
  ::eventfd_write(news_event_.number(), 1);
}

void Liveness::run() {
  try {
    const auto deadline = Clock::now() + kConnectTimeout;
    if (is_root()) {
      connect_deadline_ = deadline;
    } else {
      find_parent(deadline);
    }
    watch();
  } catch (const std::exception& error) {
    Log("liveness", own_.rank).warn("{}; a lost rank or host may not be detected", error.what());
  }
  for (RankLink& link : links_) close_link(link);
}

/// Finds a parent: rank 0 for the first rank of this host that listens for its neighbors, and that
/// rank for all others of the host.
void Liveness::find_parent(Clock::time_point deadline) {
  while (!stopping_ && parent_ == nullptr && Clock::now() < deadline) {
    if (!neighbor_listener_.is_open())
      neighbor_listener_ = listen_to_neighbors(rendezvous_, own_.host);
    if (neighbor_listener_.is_open()) {
      connect_to_root();
    } else if (Descriptor socket = connect_to_neighbor(rendezvous_, own_.host); socket.is_open()) {
      parent_ = &open_link(std::move(socket));
    }
    if (parent_ == nullptr) wait_for_link(-1, false, kRetry_milliseconds, stop_event_.number());
  }
}

/// Tries rank 0's addresses. An address may belong to another host or be unreachable, so it counts
/// only if rank 0 answers there.
void Liveness::connect_to_root() {
  for (int i = 0; i < rendezvous_.address_count && parent_ == nullptr && !stopping_; ++i) {
    Descriptor socket = connect_to_host(rendezvous_, i, kAnswer_milliseconds, stop_event_.number());
    if (!socket.is_open()) continue;
    RankLink& link = open_link(std::move(socket));
    if (wait_for_link(link.descriptor(), false, kAnswer_milliseconds, stop_event_.number()))
      link.read();
    if (link.has_token()) {
      parent_ = &link;
    } else {
      close_link(link);
    }
  }
}

RankLink& Liveness::open_link(Descriptor socket) {
  RankLink& link = links_.emplace_back(std::move(socket), rendezvous_.token);
  link.send({RankNews::Kind::kRunning, own_});
  link.flush();
  return link;
}

/// Closes a connection such that the other side does not count a loss.
void Liveness::close_link(RankLink& link) {
  link.send({RankNews::Kind::kEnded, own_});
  link.flush();
  link.close();
}

void Liveness::watch() {
  while (!stopping_) {
    for (RankLink& link : links_) serve(link);
    close_strangers();
    links_.remove_if([](const RankLink& link) { return link.descriptor() < 0; });
    check_all_connected();
    for (RankLink& link : links_) link.flush();
    wait();
    accept_links(neighbor_listener_);
    accept_links(host_listener_);
    send_own_news();
  }
}

bool Liveness::may_accept() const {
  return links_.size() < static_cast<std::size_t>(size_) + kSpareLinks && !accepting_failed_;
}

/// Waits until data arrives, or until unsent data can be sent. Waits one second at most while no
/// connection may be accepted or while unidentified connections are open.
void Liveness::wait() {
  std::vector<pollfd> descriptors;
  for (const Descriptor* each : {&news_event_, &stop_event_}) {
    descriptors.push_back({each->number(), POLLIN, 0});
  }
  for (const Descriptor* each : {&host_listener_, &neighbor_listener_}) {
    if (may_accept()) descriptors.push_back({each->number(), POLLIN, 0});
  }
  for (const RankLink& link : links_) {
    const int events = link.has_unsent() ? POLLIN | POLLOUT : POLLIN;
    descriptors.push_back({link.descriptor(), static_cast<short>(events), 0});
  }
  const bool has_strangers = std::ranges::any_of(links_, &RankLink::is_unknown);
  const bool waits_for_time = connect_deadline_ || has_strangers || !may_accept();
  ::poll(descriptors.data(), descriptors.size(), waits_for_time ? 1000 : -1);
  accepting_failed_ = false;
}

void Liveness::close_strangers() {
  const auto latest = Clock::now() - kTimeToShowToken;
  for (RankLink& link : links_) {
    if (link.is_unknown() && &link != parent_ && link.opened < latest) link.close();
  }
}

void Liveness::accept_links(const Descriptor& listener) {
  while (listener.is_open() && may_accept()) {
    Descriptor socket = accept_link(listener);
    if (!socket.is_open()) {
      accepting_failed_ = errno == EMFILE || errno == ENFILE;
      return;
    }
    links_.emplace_back(std::move(socket), rendezvous_.token);
  }
}

void Liveness::send_own_news() {
  eventfd_t ignored = 0;
  ::eventfd_read(news_event_.number(), &ignored);
  const std::lock_guard lock(mutex_);
  if (std::exchange(state_changed_, false)) ranks_.update(state_);
  if (failing_) ranks_.announce_failure();
}

void Liveness::serve(RankLink& link) {
  link.read();
  while (const std::optional<RankNews> news = link.next()) serve(link, *news);
  if (link.loss() && link.peer >= 0) end_if(ranks_.lose(link.peer, *link.loss()));
  if (!link.loss() && !link.is_foreign()) return;
  link.close();
  if (&link == parent_) parent_ = nullptr;
}

/// Processes one message. The first message of a link identifies the rank at its other end. It may
/// also be the last message, from a parent that accepted the link and then ended.
void Liveness::serve(RankLink& link, const RankNews& news) {
  const bool is_first = link.peer < 0;
  if (is_first) identify(link, news.rank);
  if (!is_first || news.kind != RankNews::Kind::kRunning) end_if(ranks_.receive(link.peer, news));
}

void Liveness::identify(RankLink& link, const RankState& rank) {
  link.peer = rank.rank;
  if (&link != parent_) return ranks_.add_child(rank);
  ranks_.add_parent(rank);
  const std::lock_guard lock(mutex_);
  ranks_.update(state_);  // news from the time without a parent
}

void Liveness::check_all_connected() {
  if (!connect_deadline_) return;
  const bool complete = ranks_.count_others() == size_ - 1;
  if (!complete && Clock::now() < *connect_deadline_) return;
  connect_deadline_.reset();
  if (complete) return;
  Log("liveness", 0)
      .warn(
          "of {} other ranks only {} connected to port {} of {} within {} s (a firewall?): if the "
          "host of a missing rank becomes unresponsive, the run will wait for it",
          size_ - 1, ranks_.count_others(), rendezvous_.port, own_.host, kConnectTimeout.count());
}

/// Reports the loss and exits. The report comes first, because a launcher that also detected the
/// loss may leave no time for more. mpirun is killed after the loss of a host, because it would
/// wait for its daemon there long after all ranks have ended.
void Liveness::end_if(const std::optional<LossEnding>& ending) {
  if (!ending) return;
  if (ending->rank) write_report(*ending->rank, size_, ending->message);
  const bool unresponsive = ending->loss == Loss::kUnresponsive;
  if (ending->waits_for_reporter)
    std::this_thread::sleep_for(unresponsive ? kTimeToReport : kTimeToReportDeath);
  const pid_t launcher = unresponsive ? parent_mpirun() : 0;
  if (launcher != 0) std::this_thread::sleep_for(kTimeToForward);
  for (RankLink& link : links_) link.flush();
  if (launcher != 0) ::kill(launcher, SIGKILL);
  ::_exit(1);
}

}  // namespace lie
