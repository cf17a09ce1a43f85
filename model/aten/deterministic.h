// ATen's switch for deterministic kernels. The process has one, and where it plays all roles, a
// learner and an actor compute at once, each on a thread of its own.
#pragma once

#include <mutex>

namespace lie::aten {

/// While alive, ATen's kernels are deterministic, and new memory is not filled for it. One at a
/// time: of two that overlap the later would restore what the earlier had set.
class Deterministic {
 public:
  Deterministic();
  ~Deterministic();
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;

 private:
  std::unique_lock<std::mutex> alone_;
  bool before_, only_warn_, fills_;
};

/// Whether they are now.
bool is_deterministic();

}  // namespace lie::aten
