#include "common/comm/host_weights.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>

#include "common/comm/backoff.h"
#include "common/comm/gather.h"
#include "common/process/log.h"

namespace lie {
namespace {

constexpr std::size_t kBoardBytes = 4096;  // a page, because the rest is read-only for readers
constexpr std::int64_t kFinish = -1;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

/// The actors on the host of rank `rank`, ascending.
std::vector<int> actors_beside(const RoleLayout& layout, int rank) {
  const std::string& host = layout.places[at(rank)].host;
  std::vector<int> beside;
  std::ranges::copy_if(layout.actors, std::back_inserter(beside),
                       [&](int actor) { return layout.places[at(actor)].host == host; });
  return beside;
}

/// What the first of the actors `beside` this one made, or, on that one, makes; empty where there
/// is no other or it cannot be had. Collective over the world.
std::optional<SharedMemory> memory_of_host(Job& job, const std::vector<int>& beside,
                                           std::size_t bytes) {
  std::optional<SharedMemory> memory;
  const bool makes = beside.size() > 1 && beside.front() == job.rank();
  if (makes) memory = SharedMemory::create(bytes);
  const std::vector<std::string> handles = gather_texts(job, memory ? memory->handle() : "");
  if (beside.size() < 2 || makes) return memory;
  return SharedMemory::open(handles[at(beside.front())], kBoardBytes);
}

void say_that_all_hold_their_own(const Job& job, std::size_t actors) {
  Log("actor", job.rank())
      .warn(
          "each of the {} actors of this host holds weights of its own: they cannot map each "
          "other's memory by memfd and /proc/PID/fd",
          actors);
}

}  // namespace

/// At the beginning of the memory.
struct HostWeights::Board {
  alignas(64) std::atomic<std::int64_t> arrived = 0;  // readers, in all rounds together
  alignas(64) std::atomic<std::int64_t> rounds = 0;   // that the writer has ended
  std::int64_t version = kFinish;                     // of the last
};

HostWeights::HostWeights(Job& job, SharedMemory memory, int readers, bool writes)
    : job_(job), memory_(std::move(memory)), readers_(readers), writes_(writes) {
  static_assert(sizeof(Board) <= kBoardBytes && std::atomic<std::int64_t>::is_always_lock_free);
}

/// All zeros, as the memory is at first, is a board before its first round.
HostWeights::Board& HostWeights::board() const {
  return *std::launder(reinterpret_cast<Board*>(memory_.bytes().data()));
}

std::span<std::byte> HostWeights::bytes() const { return memory_.bytes().subspan(kBoardBytes); }

void HostWeights::await(const std::function<bool()>& event) {
  for (Backoff backoff; !event(); backoff.pause()) job_.poll_progress();
}

std::optional<std::int64_t> HostWeights::once(const Receive& receive) {
  ++round_;
  if (writes_) {
    await([&] { return board().arrived.load() == round_ * readers_; });
    board().version = receive().value_or(kFinish);
    board().rounds.store(round_);
  } else {
    board().arrived.fetch_add(1);
    await([&] { return board().rounds.load() == round_; });
  }
  if (board().version == kFinish) return std::nullopt;
  return board().version;
}

WeightHolders own_weights(const RoleLayout& layout) { return {layout.actors, nullptr}; }

WeightHolders share_weights(Job& job, const RoleLayout& layout, std::size_t bytes) {
  const bool acts = layout.has(job.rank(), Role::kActor);
  const std::vector<int> beside = acts ? actors_beside(layout, job.rank()) : std::vector<int>();
  std::optional<SharedMemory> memory = memory_of_host(job, beside, kBoardBytes + bytes);
  const std::vector<std::string> reached = gather_texts(job, memory ? "reached" : "");
  const auto share = [&](const std::vector<int>& actors) {
    return std::ranges::none_of(actors, [&](int actor) { return reached[at(actor)].empty(); });
  };

  WeightHolders holders;
  for (const int actor : layout.actors) {
    const std::vector<int> team = actors_beside(layout, actor);
    if (team.front() == actor || !share(team)) holders.receivers.push_back(actor);
  }
  if (beside.size() < 2) return holders;
  const bool writes = beside.front() == job.rank();
  if (share(beside)) {
    holders.mine = std::make_unique<HostWeights>(job, std::move(*memory),
                                                 static_cast<int>(beside.size()) - 1, writes);
  } else if (writes) {
    say_that_all_hold_their_own(job, beside.size());
  }
  return holders;
}

}  // namespace lie
