// ATen's switch for deterministic kernels. It is global to the process. If one process runs all
// roles, a learner and an actor compute at the same time on separate threads.
#pragma once

#include <mutex>

namespace lie::aten {

/// Makes ATen's kernels deterministic during its lifetime, without filling new memory. Only one
/// object exists at a time: with two, the later would restore what the earlier had set.
class Deterministic {
 public:
  Deterministic();
  ~Deterministic();
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  bool before_, only_warn_, fills_;
};

/// Returns whether ATen's kernels are deterministic at the moment.
bool is_deterministic();

}  // namespace lie::aten
