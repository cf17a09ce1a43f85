// What this machine can do at most: the yardsticks of the model's benchmarks.
#pragma once

#include <chrono>
#include <cstdint>

namespace lie::bench {

/// Fused multiply-adds from registers on `threads` threads at once, 2 operations each, per second.
double peak_flops(int threads);

/// Bytes per second when `threads` threads each read their share of `bytes` again and again: cache
/// or memory, as the size has it.
double read_bandwidth(int threads, std::int64_t bytes);

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Least seconds of a few runs of f(): others on the machine can only add.
template <typename F>
double best_seconds(int runs, const F& f) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const double start = now_seconds();
    f();
    const double seconds = now_seconds() - start;
    best = seconds < best ? seconds : best;
  }
  return best;
}

}  // namespace lie::bench
