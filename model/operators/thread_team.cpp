#include "model/operators/thread_team.h"

#include "common/base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lie {
namespace {

// Spin for up to about a millisecond. That is longer than the single-threaded work between two
// matmuls of a forward pass, because waking a thread costs more than that work (a step on two
// threads takes 2.1 s with 400 spins and 1.7 s with this many). After that, a waiting thread sleeps
// and frees its core. Every 64th spin gives the core to a thread that is ready: where two processes
// share the cores, the awaited member may be that thread (1,140 us a call without, 6 to 24 with).
constexpr int kSpins = 20000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Returns once `value` is no longer `old`: spins first, then sleeps.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    i % 64 == 63 ? std::this_thread::yield() : pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int size) {
  try {
    for (int member = 1; member < size; ++member)
      workers_.emplace_back([this, member] { work(member); });
  } catch (...) {
    // Such as of a limit of threads: those that run must end before they are destroyed.
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  body_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run_all(Body body, const void* argument) {
  if (workers_.empty()) return body(argument, 0);
  if (is_running_) fail("a thread team cannot run within its own run");
  is_running_ = true;
  body_ = body;
  argument_ = argument;
  busy_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  body(argument, 0);
  for (std::uint32_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire)) {
    wait_while(busy_, left);
  }
  is_running_ = false;
}

void ThreadTeam::work(int member) {
  for (std::uint32_t seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (body_ == nullptr) return;
    body_(argument_, member);
    if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
  }
}

}  // namespace lie
