#include "tools/run/roles/role_threads.h"

namespace lie {

void RoleThreads::start(std::function<void()> role) {
  threads_.emplace_back([this, role = std::move(role)] { guard(role); });
}

void RoleThreads::run(const std::function<void()>& role) {
  guard(role);
  threads_.clear();
  check();
}

void RoleThreads::check() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void RoleThreads::guard(const std::function<void()>& role) {
  try {
    role();
  } catch (...) {
    fail_all(std::current_exception());
  }
}

void RoleThreads::fail_all(std::exception_ptr cause) {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_ = cause;
  for (const auto& poison : poisons_) poison(cause);
}

}  // namespace lie
