// Roles on threads of one process. They fail together (invariant E8): the first failure ends all.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lie {

/// Runs roles on threads, one of them on the calling thread. Must be declared after everything that
/// its roles use.
class RoleThreads {
 public:
  /// Calls stream.poison(cause) when a role fails, which ends all waits on the stream. Call before
  /// start().
  template <typename Stream>
  void poisons(Stream& stream) {
    poisons_.push_back([&stream](std::exception_ptr cause) { stream.poison(std::move(cause)); });
  }

  /// Runs a role on a thread of its own.
  void start(std::function<void()> role) {
    threads_.emplace_back([this, role = std::move(role)] { guard(role); });
  }
  /// Runs a role on this thread, then waits for all. Throws the first failure.
  void run(const std::function<void()>& role) {
    guard(role);
    threads_.clear();
    check();
  }

  /// Throws the first failure, if any. For roles that compute for long without a stream.
  void check() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void guard(const std::function<void()>& role) {
    try {
      role();
    } catch (...) {
      fail_all(std::current_exception());
    }
  }
  void fail_all(std::exception_ptr cause) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = cause;
    for (const auto& poison : poisons_) poison(cause);
  }

  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::function<void(std::exception_ptr)>> poisons_;
  std::vector<std::jthread> threads_;  // last, so that they are joined first
};

}  // namespace lie
