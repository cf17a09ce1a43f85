#include "model/weight_sync/host_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "common/comm/backoff.h"
#include "common/comm/collective/gather_texts.h"
#include "common/process/log.h"

namespace lie {
namespace {

/// Returns the process, its descriptor number, and the file's inode and size. The inode
/// distinguishes the memory from a file with the same process and descriptor number on another
/// host.
std::string handle_of(int descriptor, pid_t pid, int number) {
  struct stat file = {};
  if (fstat(descriptor, &file) != 0) return {};
  return fmt::format("{} {} {} {}", pid, number, file.st_ino, file.st_size);
}

}  // namespace

bool SharedMemory::map(std::size_t bytes) {
  mapping_ = {descriptor_.number(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED};
  return !mapping_.bytes().empty();
}

std::optional<SharedMemory> SharedMemory::create(std::size_t bytes) {
  SharedMemory memory(memfd_create("lie weights", MFD_CLOEXEC));
  if (ftruncate(memory.descriptor_.number(), static_cast<off_t>(bytes)) != 0 ||
      !memory.map(bytes)) {
    return std::nullopt;
  }
  return memory;
}

std::optional<SharedMemory> SharedMemory::open(const std::string& handle,
                                               std::size_t writable_bytes) {
  int pid = 0, number = -1;
  unsigned long long inode = 0, bytes = 0;
  if (std::sscanf(handle.c_str(), "%d %d %llu %llu", &pid, &number, &inode, &bytes) != 4) {
    return std::nullopt;
  }
  SharedMemory memory(
      ::open(fmt::format("/proc/{}/fd/{}", pid, number).c_str(), O_RDWR | O_CLOEXEC));
  if (handle_of(memory.descriptor_.number(), pid, number) != handle || !memory.map(bytes)) {
    return std::nullopt;
  }
  const std::span<std::byte> rest = memory.bytes().subspan(writable_bytes);
  if (mprotect(rest.data(), rest.size(), PROT_READ) != 0) return std::nullopt;
  return memory;
}

std::string SharedMemory::handle() const {
  return handle_of(descriptor_.number(), getpid(), descriptor_.number());
}

namespace {

constexpr std::size_t kBoardBytes = 4096;  // a page, because readers map the rest read-only
constexpr std::int64_t kFinish = -1;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

/// Returns the actors on the host of rank `rank`, ascending.
std::vector<int> actors_on_host_of(const RoleLayout& layout, int rank) {
  const std::string& host = layout.places[at(rank)].host;
  std::vector<int> actors;
  std::ranges::copy_if(layout.actors, std::back_inserter(actors),
                       [&](int actor) { return layout.places[at(actor)].host == host; });
  return actors;
}

/// Returns the memory that the first of `actors` creates and the others open. `actors` are those on
/// this rank's host, none if this rank is no actor. Empty if there is no other actor or if the
/// memory cannot be created or opened. Collective over the world.
std::optional<SharedMemory> memory_of_host(Job& job, const std::vector<int>& actors,
                                           std::size_t bytes) {
  std::optional<SharedMemory> memory;
  const bool is_writer = actors.size() > 1 && actors.front() == job.rank();
  if (is_writer) memory = SharedMemory::create(bytes);
  const std::vector<std::string> handles = gather_texts(job, memory ? memory->handle() : "");
  if (actors.size() < 2 || is_writer) return memory;
  return SharedMemory::open(handles[at(actors.front())], kBoardBytes);
}

void warn_of_separate_weights(const Job& job, std::size_t actors) {
  Log("actor", job.rank())
      .warn(
          "each of the {} actors of this host holds weights of its own: they cannot map each "
          "other's memory by memfd and /proc/PID/fd",
          actors);
}

}  // namespace

/// The first bytes of the memory. Zeroed memory is a board before its first round.
struct HostCopy::Board {
  alignas(64) std::atomic<std::int64_t> arrived = 0;  // readers, in all rounds together
  alignas(64) std::atomic<std::int64_t> rounds = 0;   // that the writer has completed
  std::int64_t version = kFinish;                     // result of the last round
};

HostCopy::HostCopy(Job& job, SharedMemory memory, int readers, bool is_writer)
    : job_(job), memory_(std::move(memory)), readers_(readers), is_writer_(is_writer) {
  static_assert(sizeof(Board) <= kBoardBytes && std::atomic<std::int64_t>::is_always_lock_free);
}

HostCopy::Board& HostCopy::board() const {
  return *std::launder(reinterpret_cast<Board*>(memory_.bytes().data()));
}

SharedFloats HostCopy::weights() const {
  const std::span<std::byte> bytes = memory_.bytes().subspan(kBoardBytes);
  return {{reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)}, is_writer_};
}

void HostCopy::wait_until(const std::function<bool()>& event) {
  for (Backoff backoff; !event(); backoff.pause()) job_.poll_progress();
}

std::optional<std::int64_t> HostCopy::update(const Receive& receive) {
  ++round_;
  if (is_writer_) {
    wait_until([&] { return board().arrived.load() == round_ * readers_; });
    board().version = receive().value_or(kFinish);
    board().rounds.store(round_);
  } else {
    board().arrived.fetch_add(1);
    wait_until([&] { return board().rounds.load() == round_; });
  }
  if (board().version == kFinish) return std::nullopt;
  return board().version;
}

HostCopies make_host_copies(Job& job, const RoleLayout& layout, std::size_t bytes) {
  const int me = job.rank();
  const auto mates =
      layout.has(me, Role::kActor) ? actors_on_host_of(layout, me) : std::vector<int>();
  std::optional<SharedMemory> memory = memory_of_host(job, mates, kBoardBytes + bytes);
  const std::vector<std::string> reached = gather_texts(job, memory ? "reached" : "");
  const auto all_reach = [&](const std::vector<int>& actors) {
    return std::ranges::none_of(actors, [&](int actor) { return reached[at(actor)].empty(); });
  };

  HostCopies copies;
  for (const int actor : layout.actors) {
    const std::vector<int> of_host = actors_on_host_of(layout, actor);
    if (of_host.front() == actor || !all_reach(of_host)) copies.receivers.push_back(actor);
  }
  if (mates.size() < 2) return copies;
  const bool is_writer = mates.front() == me;
  if (all_reach(mates)) {
    copies.mine = std::make_unique<HostCopy>(job, std::move(*memory),
                                             static_cast<int>(mates.size()) - 1, is_writer);
  } else if (is_writer) {
    warn_of_separate_weights(job, mates.size());
  }
  return copies;
}

}  // namespace lie
