// A few threads that run one function together, again and again, at the cost of a fraction of a
// microsecond.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lie {

/// `size` threads of which the caller is number 0. Members wait by spinning for some microseconds,
/// then sleep, so that idle teams of other ranks on the same cores cost nothing. One caller at a
/// time.
class ThreadTeam {
 public:
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(member) for every member in [0, size) at once; returns when all have. `body` must
  /// not throw, nor have this team run. Throws Error, before any call, where it runs already.
  template <typename F>
  void run(const F& body) {
    run_all([](const void* f, int member) { (*static_cast<const F*>(f))(member); }, &body);
  }

  /// Calls body(task, member) for every task in [0, tasks), each on whichever member is free.
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

  std::vector<std::thread> workers_;
  Body body_ = nullptr;  // null asks the workers to leave
  const void* argument_ = nullptr;
  bool is_running_ = false;                          // as the caller knows it
  alignas(64) std::atomic<std::uint32_t> round_{0};  // counts run() calls
  alignas(64) std::atomic<std::uint32_t> busy_{0};   // workers still in this round
};

}  // namespace lie
