// Replaces launch.h in a test program: runs the row functions with a thread per lane, so that the
// thread sanitizer reports memory that lanes share without a barrier between them. Only barriers
// order the lanes. Fold and ballot exchange values by relaxed atomics, because a GPU's shuffles
// order no memory either.
#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/cuda/kernels/lanes.h"
#include "model/cuda/queue.h"

namespace lie::cuda {

constexpr bool kEmulated = true;
inline int multiprocessors_of(int /*device*/) { return 1; }
constexpr int kThreads = 2 * kLanes;  // threads of a block
constexpr int kGroups = kThreads / kLanes;

/// A barrier that is left out. Line 0 is none.
struct LeftOut {
  std::string file;
  unsigned line = 0;
};
inline LeftOut left_out;

inline void wait_at(std::barrier<>& barrier, std::string_view file, unsigned line) {
  if (line != left_out.line || !file.ends_with(left_out.file)) barrier.arrive_and_wait();
}

/// The state that sixteen threads share. Two slots per lane suffice: before a lane writes a slot
/// again, all lanes have read its previous value.
struct Group {
  std::array<std::array<std::atomic<std::uint64_t>, kLanes>, 2> slots{};
  std::barrier<> barrier{kLanes};
};

/// One thread's place in its group.
struct Seat {
  Group* group;
  int lane;
  std::uint32_t round = 0;

  /// Returns the values that all lanes pass.
  std::array<std::uint32_t, kLanes> exchange(std::uint32_t mine) {
    ++round;
    auto& slots = group->slots[round % 2];
    slots[static_cast<std::size_t>(lane)].store(std::uint64_t{round} << 32 | mine,
                                                std::memory_order_relaxed);
    std::array<std::uint32_t, kLanes> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint64_t seen = 0;
      while ((seen = slots[i].load(std::memory_order_relaxed)) >> 32 != round) {
        std::this_thread::yield();
      }
      all[i] = static_cast<std::uint32_t>(seen);
    }
    return all;
  }
};

/// A value of the calling thread. The index is ignored.
template <typename T>
struct ThreadLane {
  T value = {};
  T& operator[](int) { return value; }
};

struct ThreadLanes {
  template <typename T>
  using PerLane = ThreadLane<T>;

  Seat& seat;

  template <typename F>
  void each(const F& f) const {
    f(seat.lane);
  }
  template <typename F>
  void once(const F& f) const {
    if (seat.lane == 0) f();
  }
  template <typename F>
  float fold(PerLane<float> v, const F& f) const {
    return HostLanes().fold(all(v), f);
  }
  template <int kStride, typename F>
  PerLane<float> fold_by(PerLane<float> v, const F& f) const {
    return {HostLanes().template fold_by<kStride>(all(v), f)[seat.lane]};
  }
  PerLane<float> sum_each(const PerLane<LaneValues>& v) const {
    HostLane<LaneValues> values;
    for (int i = 0; i < kLanes; ++i) {
      const HostLane<float> of_lanes = all({v.value.of[i]});
      for (int lane = 0; lane < kLanes; ++lane) values[lane].of[i] = of_lanes.value[lane];
    }
    return {HostLanes().sum_each(values)[seat.lane]};
  }
  float from(const PerLane<float>& v, int lane) const { return all(v).value[lane]; }
  double sum_in_order(PerLane<double> v) const {
    const auto bits = std::bit_cast<std::uint64_t>(v.value);
    const auto high = seat.exchange(static_cast<std::uint32_t>(bits >> 32)),
               low = seat.exchange(static_cast<std::uint32_t>(bits));
    double sum = 0;
    for (std::size_t i = 0; i < high.size(); ++i) {
      sum += std::bit_cast<double>(std::uint64_t{high[i]} << 32 | low[i]);
    }
    return sum;
  }
  template <typename F>
  std::uint32_t where(const F& f) const {
    const auto all = seat.exchange(f(seat.lane) ? 1 : 0);
    return HostLanes().where([&](int lane) { return all[static_cast<std::size_t>(lane)] != 0; });
  }
  void sync(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) const {
    wait_at(seat.group->barrier, file, line);
  }

 private:
  HostLane<float> all(PerLane<float> v) const {
    return std::bit_cast<HostLane<float>>(seat.exchange(std::bit_cast<std::uint32_t>(v.value)));
  }
};

struct ThreadBlock {
  void* memory;
  int thread;
  Seat& seat;
  std::barrier<>& barrier;

  template <typename F>
  void each(std::int64_t count, const F& f) const {
    for (std::int64_t i = thread; i < count; i += kThreads) f(i);
  }
  template <typename F>
  void rows(std::int64_t count, const F& f) const {
    for (std::int64_t i = thread / kLanes; i < count; i += kGroups) f(ThreadLanes{seat}, i);
  }
  template <typename F>
  void once(const F& f) const {
    if (thread == 0) f();
  }
  std::int32_t add(std::int32_t& to) const {
    return std::atomic_ref(to).fetch_add(1, std::memory_order_relaxed);
  }
  void sync(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) const {
    wait_at(barrier, file, line);
  }
};

/// Calls work(thread, seat) on kThreads threads.
template <typename Work>
void on_threads(const Work& work) {
  std::array<Group, kGroups> groups;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Seat seat{&groups[static_cast<std::size_t>(thread / kLanes)], thread % kLanes};
      work(thread, seat);
    });
  }
}

template <typename Body>
void for_elements(const Queue& /*queue*/, std::int64_t count, const Body& body) {
  on_threads([&](int thread, Seat&) {
    for (std::int64_t i = thread; i < count; i += kThreads) body(i);
  });
}
template <typename Body>
void for_rows(const Queue& /*queue*/, std::int64_t count, const Body& body) {
  on_threads([&](int thread, Seat& seat) {
    for (std::int64_t row = thread / kLanes; row < count; row += kGroups) {
      body(ThreadLanes{seat}, row);
    }
  });
}

/// A block's shared memory, full of NaNs, and its barrier.
class SharedBlock {
 public:
  explicit SharedBlock(std::size_t bytes) : memory_(bytes / sizeof(Piece) + 1) {
    std::memset(memory_.data(), 0xff, memory_.size() * sizeof(Piece));
  }
  void* memory() { return memory_.data(); }
  std::barrier<> barrier{kThreads};

 private:
  struct alignas(16) Piece {
    std::byte bytes[16];
  };
  std::vector<Piece> memory_;
};

/// Each block has its own barrier, and there is none between blocks, so that nothing orders them.
template <typename Body>
void for_blocks(const Queue& /*queue*/, std::int64_t count, const Body& body) {
  std::deque<SharedBlock> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    blocks.emplace_back(static_cast<std::size_t>(body.shared_bytes()));
  }
  on_threads([&](int thread, Seat& seat) {
    std::int64_t row = 0;
    for (SharedBlock& block : blocks) {
      body(ThreadBlock{block.memory(), thread, seat, block.barrier}, row++);
      block.barrier.arrive_and_drop();  // for threads that a left-out barrier made wait once more
    }
  });
}

}  // namespace lie::cuda
