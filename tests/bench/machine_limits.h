// Measures the limits of this machine, with which the model's benchmarks are compared.
#pragma once

#include <chrono>
#include <cstdint>

namespace lie::bench {

/// Returns the operations per second of fused multiply-adds from registers on `threads` threads. A
/// fused multiply-add counts as 2 operations.
double peak_flops(int threads);

/// Returns the bytes per second when each of `threads` threads reads its share of `bytes`
/// repeatedly: from cache or memory, depending on the size.
double read_bandwidth(int threads, std::int64_t bytes);

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the least seconds of a few runs of f(), because other load can only add time.
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
