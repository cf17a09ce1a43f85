// A few threads that run one function together, repeatedly, with an overhead of a fraction of a
// microsecond.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lie {

/// A team of `size` threads. The caller is member 0. Waiting members spin for up to about a
/// millisecond and then sleep, so that idle teams of other ranks on the same cores cost nothing.
/// Only one thread may call at a time.
class ThreadTeam {
 public:
  /// Throws std::system_error if a thread cannot be started.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(member) for every member in [0, size) concurrently and returns when all calls have
  /// returned. `body` must not throw or call run() on this team. Throws Error before any call if
  /// the team is already running.
  template <typename F>
  void run(const F& body) {
    run_all([](const void* f, int member) { (*static_cast<const F*>(f))(member); }, &body);
  }

  /// Calls body(task, member) for every task in [0, tasks), each on the next free member.
  template <typename F>
  void each(std::int64_t tasks, const F& body) {
    if (tasks <= 1 || size() == 1) {
      for (std::int64_t task = 0; task < tasks; ++task) body(task, 0);
      return;
    }
    std::atomic<std::int64_t> next{0};
    run([&](int member) {
      for (std::int64_t task = next++; task < tasks; task = next++) body(task, member);
    });
  }

 private:
  using Body = void (*)(const void*, int);
  void run_all(Body body, const void* argument);
  void work(int member);
  void stop();

  std::vector<std::thread> workers_;
  Body body_ = nullptr;  // null tells the workers to return
  const void* argument_ = nullptr;
  bool is_running_ = false;                          // used by the calling thread only
  alignas(64) std::atomic<std::uint32_t> round_{0};  // counts run() calls
  alignas(64) std::atomic<std::uint32_t> busy_{0};   // workers still in this round
};

}  // namespace lie
