// Pauses for polling loops that leave the cores to the ranks that compute.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace lie {

/// Pauses between polls. They grow while nothing happens: 16 yields, then sleeps of 1 to 200 µs. A
/// rank that waits this way leaves its core to a computing rank, which a blocking MPI receive does
/// not.
class Backoff {
 public:
  void pause() {
    if (pauses_ < kYields) {
      ++pauses_;
      std::this_thread::yield();
      return;
    }
    const int doublings = pauses_ - kYields;
    if (doublings < kDoublings) ++pauses_;
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(1 << doublings, kLongest_us)));
  }
  /// Returns to the shortest pause. Call it when a poll found something.
  void reset() { pauses_ = 0; }

 private:
  static constexpr int kYields = 16;
  static constexpr int kDoublings = 8;  // 1 µs << 8 exceeds the longest sleep
  static constexpr int kLongest_us = 200;

  int pauses_ = 0;
};

}  // namespace lie
