// Clocks for records: durations, and the time that a role works or waits. No result depends on
// them.
#pragma once

#include <chrono>

namespace lie {

/// Returns the seconds since 1970-01-01 00:00 UTC.
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Measures the seconds since its construction.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds the seconds of its own lifetime to a sum.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  ~Timed() { seconds_ += watch_.seconds(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  Stopwatch watch_;
};

/// A rank's working and waiting time since the run began. It is sent with the rank's messages, so
/// that the learner can report the idle share of every role.
struct RoleClock {
  double busy_seconds = 0, idle_seconds = 0;
};

/// Counts a role's seconds as busy or idle, beginning with busy. The times are only reported.
class BusyIdleClock {
 public:
  /// Switches to idle or busy. Repeating the current state changes nothing.
  void idle() { enter(true); }
  void busy() { enter(false); }

  /// Runs `wait`, counts its duration as idle time, and returns its result.
  template <typename Wait>
  auto waiting(Wait&& wait) {
    idle();
    auto result = wait();
    busy();
    return result;
  }

  /// Returns the sums up to now, including the current span.
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
