#include "common/comm/backoff.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace lie {

void Backoff::pause() {
  constexpr int kYields = 16;
  constexpr int kDoublings = 8;  // 1 µs << 8 exceeds the longest sleep
  constexpr int kLongest_us = 200;
  if (pauses_ < kYields) {
    ++pauses_;
    std::this_thread::yield();
    return;
  }
  const int doublings = pauses_ - kYields;
  if (doublings < kDoublings) ++pauses_;
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(1 << doublings, kLongest_us)));
}

}  // namespace lie
