// Time for records: how long something took, how long a role works and waits. Decides no result.
#pragma once

#include <chrono>

namespace lie {

/// Seconds since 1970.
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds the seconds of its own life to a sum.
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

/// Where a rank's time went since the run began; travels with its messages, so that the learner can
/// report the idle share of every role.
struct RoleClock {
  double busy_seconds = 0, idle_seconds = 0;
};

/// Counts a role's seconds as busy or idle. Starts busy. Its times are reported, never acted upon.
class BusyIdleClock {
 public:
  /// From now on the role waits (or works again). Repeating the present state changes nothing.
  void idle() { enter(true); }
  void busy() { enter(false); }

  /// Runs `wait`, counted as idle time, and returns its result.
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
