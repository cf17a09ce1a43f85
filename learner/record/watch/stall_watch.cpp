#include "learner/record/watch/stall_watch.h"

#include <utility>

#include "common/process/log.h"

namespace lie {

StallWatch::StallWatch(std::chrono::milliseconds patience, Warn warn)
    : warn_(std::move(warn)),
      thread_([this, patience](const std::stop_token& stop) { run(stop, patience); }) {}

void StallWatch::moved() {
  const std::lock_guard lock(mutex_);
  moved_ = Clock::now();
  wake_.notify_one();
}

void StallWatch::run(const std::stop_token& stop, Clock::duration patience) {
  std::unique_lock lock(mutex_);
  Clock::time_point seen = moved_;
  Clock::duration limit = patience;
  while (!stop.stop_requested()) {
    if (wake_.wait_until(lock, stop, seen + limit, [&] { return moved_ != seen; })) {
      seen = moved_;
      limit = patience;
    } else if (!stop.stop_requested()) {
      warn_(std::chrono::duration_cast<std::chrono::minutes>(limit));
      limit *= 2;
    }
  }
}

void StallWatch::warn_of_network(std::chrono::minutes silent) {
  Log("learner", 0)
      .warn(
          "no group has been completed for {} min: unless a group takes that long, an actor or a "
          "reward worker is stuck, or MPI's network loses messages (see \"What listens\" in "
          "docs/how-to/run-on-several-hosts.md)",
          silent.count());
}

}  // namespace lie
