// Roles on threads of one process. They fail as one (invariant E8): the first failure ends all.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lie {

/// Declare it after what its roles use. Runs them on threads, one of them on the caller's.
class RoleThreads {
 public:
  /// When a role fails, stream.poison(cause) ends all waits on it. Call it before start().
  template <typename Stream>
  void poisons(Stream& stream) {
    poisons_.push_back([&stream](std::exception_ptr cause) { stream.poison(std::move(cause)); });
  }

  /// Runs a role on a thread of its own.
  void start(std::function<void()> role);
  /// Runs a role on this thread, then waits for all. Throws what failed first.
  void run(const std::function<void()>& role);

  /// Throws what failed first, if anything: for roles that compute for long without a stream.
  void check();

 private:
  void guard(const std::function<void()>& role);
  void fail_all(std::exception_ptr cause);

  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::function<void(std::exception_ptr)>> poisons_;
  std::vector<std::jthread> threads_;  // joined first of all
};

}  // namespace lie
