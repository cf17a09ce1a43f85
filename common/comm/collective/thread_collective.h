// The group operations between threads of one process.
#pragma once

#include <exception>
#include <memory>

#include "common/comm/collective/collective.h"

namespace lie {

/// A group of `size` threads. It must outlive its members. Spans must be in host memory. Sums are
/// added in rank order.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size);
  ~ThreadGroup();

  /// Returns the member for thread number `rank`. Only that thread may use it.
  std::unique_ptr<Collective> member(int rank);
  /// Makes every call of a member throw `cause`, including waiting calls. Later causes are ignored.
  void poison(std::exception_ptr cause);

 private:
  class Barrier;
  class Member;
  std::unique_ptr<Barrier> barrier_;
};

}  // namespace lie
