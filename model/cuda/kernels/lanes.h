// A row in sixteen lanes, as the CPU operators compute it (model/cpu/kernels/vec16-inl.h). Lane l
// computes the columns l, l + 16, ..., and lanes are folded by halving. On a GPU a lane is a thread
// of half a warp. Here a loop emulates the lanes, so that every row function can be tested without
// a GPU.
#pragma once

#include <cstdint>
#include <type_traits>

// Row functions compile for host and device. Only this file, warps.h and launch.h test for
// __CUDACC__.
#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>

#define LIE_ROW __host__ __device__ __forceinline__
#define LIE_UNROLL _Pragma("unroll")
#else
#define LIE_ROW inline
#define LIE_UNROLL
#endif

namespace lie::cuda {

/// Sixteen bytes that one instruction moves. nvcc splits structs and vectors of this size.
#ifdef __CUDACC__
using Bytes16 = unsigned __int128;
#else
using Bytes16 [[gnu::may_alias]] = unsigned __int128;
#endif

/// Loads 8, 16 or 32 bytes, aligned to 16 or to their size, by instructions of up to 16 bytes.
template <typename T>
LIE_ROW T load_at_once(const T& from) {
#ifdef __CUDA_ARCH__
  using Piece = std::conditional_t<sizeof(T) < 16, uint2, uint4>;
  T to;
  for (unsigned i = 0; i < sizeof(T) / sizeof(Piece); ++i) {
    reinterpret_cast<Piece*>(&to)[i] = reinterpret_cast<const Piece*>(&from)[i];
  }
  return to;
#else
  return from;
#endif
}
/// Begins to copy an object of 8, 16 or 32 bytes from global to shared memory, or to zero it. Only
/// the calling thread may read it, after wait_for_copies().
template <typename T>
LIE_ROW void copy_async(T& to, const T& from, bool is_zero) {
#ifdef __CUDA_ARCH__
  constexpr int kPiece = sizeof(T) < 16 ? sizeof(T) : 16;
  for (unsigned at = 0; at < sizeof(T); at += kPiece) {
    __pipeline_memcpy_async(reinterpret_cast<char*>(&to) + at,
                            reinterpret_cast<const char*>(&from) + at, kPiece,
                            is_zero ? kPiece : 0);
  }
#else
  to = is_zero ? T() : from;
#endif
}
/// Ends a group of copies of the calling thread, which may be empty.
LIE_ROW void commit_copies() {
#ifdef __CUDA_ARCH__
  __pipeline_commit();
#endif
}
/// Waits for all groups of copies but the last kLeft.
template <int kLeft>
LIE_ROW void wait_for_copies() {
#ifdef __CUDA_ARCH__
  __pipeline_wait_prior(kLeft);
#endif
}

constexpr int kLanes = 16;

/// A value per lane.
template <typename T>
struct HostLane {
  T value[kLanes] = {};
  T& operator[](int lane) { return value[lane]; }
};

/// As many values as there are lanes.
struct LaneValues {
  float of[kLanes] = {};
};

/// All lanes of a row on the host, one after another.
struct HostLanes {
  template <typename T>
  using PerLane = HostLane<T>;

  template <typename F>
  void each(const F& f) const {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  }
  /// Calls f in one lane.
  template <typename F>
  void once(const F& f) const {
    f();
  }
  /// Reduces all lanes by halving: lane i with i + 8, then with i + 4, i + 2, i + 1.
  template <typename F>
  float fold(PerLane<float> v, const F& f) const {
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) v[i] = f(v[i], v[i + half]);
    }
    return v[0];
  }
  /// Reduces the lanes whose numbers are equal modulo kStride, for each lane. f must be
  /// commutative.
  template <int kStride, typename F>
  PerLane<float> fold_by(PerLane<float> v, const F& f) const {
    for (int half = kLanes / 2; half >= kStride; half /= 2) {
      const PerLane<float> before = v;
      for (int i = 0; i < kLanes; ++i) v.value[i] = f(before.value[i], before.value[i ^ half]);
    }
    return v;
  }
  /// Returns for lane i the sum of all lanes' value i, added in the order of fold().
  PerLane<float> sum_each(const PerLane<LaneValues>& v) const {
    PerLane<float> sums;
    for (int i = 0; i < kLanes; ++i) {
      PerLane<float> of_lanes;
      for (int lane = 0; lane < kLanes; ++lane) of_lanes[lane] = v.value[lane].of[i];
      sums[i] = fold(of_lanes, [](float a, float b) { return a + b; });
    }
    return sums;
  }
  /// Returns the value of one lane in all lanes.
  float from(const PerLane<float>& v, int lane) const { return v.value[lane]; }
  /// Returns the sum of all lanes in ascending order.
  double sum_in_order(PerLane<double> v) const {
    double sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += v[lane];
    return sum;
  }
  /// Returns a bit mask whose bit l is f(l).
  template <typename F>
  std::uint32_t where(const F& f) const {
    std::uint32_t bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= (f(lane) ? 1u : 0u) << lane;
    return bits;
  }
  /// A barrier: all lanes see what any lane wrote before.
  void sync() const {}
};

/// A block of threads on the host, one after another. `memory` is shared by its threads and aligned
/// to sixteen bytes.
struct HostBlock {
  void* memory = nullptr;

  template <typename F>
  void each(std::int64_t count, const F& f) const {
    for (std::int64_t i = 0; i < count; ++i) f(i);
  }
  /// Calls f(lanes, i) for i in [0, count), distributed over the block's groups of sixteen lanes.
  template <typename F>
  void rows(std::int64_t count, const F& f) const {
    for (std::int64_t i = 0; i < count; ++i) f(HostLanes(), i);
  }
  template <typename F>
  void once(const F& f) const {
    f();
  }
  /// Adds one atomically and returns the previous value.
  std::int32_t add(std::int32_t& to) const { return to++; }
  void sync() const {}
};

}  // namespace lie::cuda
