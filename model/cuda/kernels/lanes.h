// A row in sixteen lanes, as the CPU operators compute it (model/cpu/kernels/vec16-inl.h): lane l
// takes the columns l, l + 16, ..., and lanes are folded by halving. On a GPU a lane is a thread of
// half a warp; here a loop stands for them, so that every row function can be tested where there is
// none.
#pragma once

#include <cstdint>

// Row functions compile for both sides. This and launch.h are the only places that ask which.
#ifdef __CUDACC__
#define LIE_ROW __host__ __device__ __forceinline__
#else
#define LIE_ROW inline
#endif

namespace lie::cuda {

constexpr int kLanes = 16;

/// A value per lane.
template <typename T>
struct HostLane {
  T value[kLanes] = {};
  T& operator[](int lane) { return value[lane]; }
};

/// All lanes of a row on the host, one after another.
struct HostLanes {
  template <typename T>
  using Of = HostLane<T>;

  template <typename F>
  void each(const F& f) const {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  }
  /// By one lane.
  template <typename F>
  void once(const F& f) const {
    f();
  }
  /// All lanes joined by halving: lane i with i + 8, then with i + 4, i + 2, i + 1.
  template <typename F>
  float fold(Of<float> v, const F& f) const {
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) v[i] = f(v[i], v[i + half]);
    }
    return v[0];
  }
  /// The sum of all lanes, the first first.
  double sum_in_order(Of<double> v) const {
    double sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += v[lane];
    return sum;
  }
  /// Bit l: whether f(l).
  template <typename F>
  std::uint32_t where(const F& f) const {
    std::uint32_t bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= (f(lane) ? 1u : 0u) << lane;
    return bits;
  }
  /// What a lane wrote before, all lanes read after.
  void wait() const {}
};

/// A block of threads on the host, one after another. `memory`: what its threads share, from a
/// multiple of sixteen bytes on.
struct HostBlock {
  void* memory = nullptr;

  template <typename F>
  void each(std::int64_t count, const F& f) const {
    for (std::int64_t i = 0; i < count; ++i) f(i);
  }
  /// f(lanes, i) by as many rows of lanes as the block has, each `count` of them.
  template <typename F>
  void rows(std::int64_t count, const F& f) const {
    for (std::int64_t i = 0; i < count; ++i) f(HostLanes(), i);
  }
  template <typename F>
  void once(const F& f) const {
    f();
  }
  /// Any thread adds one; returns what was there before.
  std::int32_t add(std::int32_t& to) const { return to++; }
  void wait() const {}
};

}  // namespace lie::cuda
