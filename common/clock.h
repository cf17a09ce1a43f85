// How long a role works and how long it waits.
#pragma once

#include <chrono>

#include "common/rollout.h"

namespace lie {

/// Counts a role's seconds as busy or idle. Starts busy. Its times are reported, never acted upon.
class BusyIdleClock {
 public:
  /// From now on the role waits (or works again). Repeating the present state changes nothing.
  void idle() { enter(true); }
  void busy() { enter(false); }

  /// Runs `wait` as idle time and returns its result: clock.waiting([&] { return source.receive();
  /// }).
  template <typename Wait>
  auto waiting(Wait&& wait) {
    idle();
    auto result = wait();
    busy();
    return result;
  }

  /// Sums up to now, the running span included.
  RoleClock read() {
    enter(is_idle_);
    return sums_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void enter(bool is_idle) {
    const Clock::time_point now = Clock::now();
    (is_idle_ ? sums_.idle_seconds : sums_.busy_seconds) +=
        std::chrono::duration<double>(now - since_).count();
    since_ = now;
    is_idle_ = is_idle;
  }

  RoleClock sums_;
  Clock::time_point since_ = Clock::now();
  bool is_idle_ = false;
};

}  // namespace lie
