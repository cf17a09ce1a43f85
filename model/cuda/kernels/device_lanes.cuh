// The GPU side of lanes.h: half a warp, and a block of threads.
#pragma once

#include "model/cuda/kernels/lanes.h"

namespace lie::cuda {

constexpr unsigned kThreads = 256;  // threads of a block

/// A value of the calling lane. The index is ignored.
template <typename T>
struct DeviceLane {
  T value = {};
  __device__ T& operator[](int) { return value; }
};

/// The half warp that the calling thread belongs to.
class DeviceLanes {
 public:
  template <typename T>
  using PerLane = DeviceLane<T>;

  template <typename F>
  __device__ void each(const F& f) const {
    f(lane_);
  }
  template <typename F>
  __device__ void once(const F& f) const {
    if (lane_ == 0) f();
  }
  template <typename F>
  __device__ float fold(PerLane<float> v, const F& f) const {
    float mine = v.value;
    for (int half = kLanes / 2; half > 0; half /= 2) {
      const float other = __shfl_xor_sync(mask_, mine, half, kLanes);
      mine = (lane_ & half) == 0 ? f(mine, other) : f(other, mine);
    }
    return mine;
  }
  template <int kStride, typename F>
  __device__ PerLane<float> fold_by(PerLane<float> v, const F& f) const {
#pragma unroll
    for (int half = kLanes / 2; half >= kStride; half /= 2) {
      v.value = f(v.value, __shfl_xor_sync(mask_, v.value, half, kLanes));
    }
    return v;
  }
  __device__ PerLane<float> sum_each(PerLane<LaneValues> v) const {
    exchange_halves<kLanes / 2>(v.value.of);
    return {v.value.of[0]};
  }
  __device__ float from(const PerLane<float>& v, int lane) const {
    return __shfl_sync(mask_, v.value, lane, kLanes);
  }
  __device__ double sum_in_order(PerLane<double> v) const {
    double sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += __shfl_sync(mask_, v.value, lane, kLanes);
    return sum;
  }
  template <typename F>
  __device__ std::uint32_t where(const F& f) const {
    return (__ballot_sync(mask_, f(lane_)) >> first_) & 0xffffu;
  }
  __device__ void sync() const { __syncwarp(mask_); }

 private:
  /// Keeps half of 2 kHalf values, and adds those that the lane kHalf apart sends of its other
  /// half.
  template <int kHalf>
  __device__ void exchange_halves(float (&of)[kLanes]) const {
    const bool is_upper = (lane_ & kHalf) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float kept = is_upper ? of[i + kHalf] : of[i], sent = is_upper ? of[i] : of[i + kHalf];
      of[i] = kept + __shfl_xor_sync(mask_, sent, kHalf, kLanes);
    }
    if constexpr (kHalf > 1) exchange_halves<kHalf / 2>(of);
  }

  int lane_ = static_cast<int>(threadIdx.x) % kLanes;
  int first_ = static_cast<int>(threadIdx.x) & kLanes;  // of the half within its warp
  unsigned mask_ = 0xffffu << first_;
};

struct DeviceBlock {
  void* memory = nullptr;  // shared

  template <typename F>
  __device__ void each(std::int64_t count, const F& f) const {
    for (std::int64_t i = threadIdx.x; i < count; i += kThreads) f(i);
  }
  template <typename F>
  __device__ void rows(std::int64_t count, const F& f) const {
    for (std::int64_t i = threadIdx.x / kLanes; i < count; i += kThreads / kLanes) {
      f(DeviceLanes(), i);
    }
  }
  template <typename F>
  __device__ void once(const F& f) const {
    if (threadIdx.x == 0) f();
  }
  __device__ std::int32_t add(std::int32_t& to) const { return atomicAdd(&to, 1); }
  __device__ void sync() const { __syncthreads(); }
};

}  // namespace lie::cuda
