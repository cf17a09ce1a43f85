// The group operations between threads of one process.
#pragma once

#include <exception>
#include <memory>

#include "common/comm/collective/collective.h"

namespace lie {

/// A group of `size` threads. Outlives its members. Spans are host memory; sums are added in rank
/// order.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size);
  ~ThreadGroup();

  /// The end of thread number `rank`, to be used by that thread alone.
  std::unique_ptr<Collective> member(int rank);
  /// Makes every call of a member throw `cause`, the waiting ones too. The first cause stays.
  void poison(std::exception_ptr cause);

 private:
  class Meeting;
  class Member;
  std::unique_ptr<Meeting> meeting_;
};

}  // namespace lie
