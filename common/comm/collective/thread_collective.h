// The group operations between threads of one process.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/comm/collective/collective.h"

namespace lie {

/// A group of `size` threads. It must outlive its members. Spans must be in host memory.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size) : spans_(static_cast<std::size_t>(size)) {}

  /// Returns the member for thread number `rank`. Only that thread may use it. It calls
  /// `poll_progress`, if there is one, while it waits for other threads to begin an operation. If
  /// that throws, the operation throws the same on all members.
  std::unique_ptr<Collective> member(int rank, std::function<void()> poll_progress = {});
  /// Makes every call of a member throw `cause`, including waiting calls. Later causes are ignored.
  void poison(std::exception_ptr cause);

 private:
  class Member;
  void wait(const std::function<void()>& poll_progress = {});
  void poll_until(std::size_t round, const std::function<void()>& poll_progress);

  std::mutex mutex_;
  std::condition_variable all_arrived_;
  std::vector<std::span<std::byte>> spans_;  // by thread; others read them between two waits
  std::size_t arrived_ = 0, round_ = 0;
  std::exception_ptr poison_;
};

}  // namespace lie
