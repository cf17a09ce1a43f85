// Runs row functions over all rows of a call: as kernels if nvcc compiles this file, otherwise in
// loops on emulated lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/cuda/queue.h"

#ifdef __CUDACC__
#include <cuda_runtime_api.h>

#include "model/cuda/kernels/device_lanes.cuh"
#else
#include <vector>

#include "model/cuda/kernels/lanes.h"
#endif

namespace lie::cuda {

#ifdef __CUDACC__

constexpr bool kEmulated = false;

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail_to(what, cudaGetErrorString(status));
}

template <typename Body>
__global__ void __launch_bounds__(kThreads) over_elements(Body body, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) body(i);
}
template <typename Body>
__global__ void __launch_bounds__(kThreads) over_rows(Body body, std::int64_t count) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  if (row < count) body(DeviceLanes(), row);
}
/// The number of blocks that a multiprocessor should hold at once, which limits their registers.
/// From compute capability 12.0 on, shared memory is smaller and holds only one.
template <typename Body>
constexpr int blocks_at_once() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 1200
  if constexpr (requires { Body::kBlocksAtOnce; }) return Body::kBlocksAtOnce;
#endif
  return 1;
}
template <typename Body>
__global__ void __launch_bounds__(kThreads, blocks_at_once<Body>()) over_blocks(Body body) {
  extern __shared__ __align__(16) double memory[];
  body(DeviceBlock{memory}, std::int64_t{blockIdx.x});
}

inline int multiprocessors_of(int device) {
  int count = 1;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
        "count the multiprocessors");
  return count;
}

/// Makes `device` current and returns the number of blocks for `threads` threads.
inline unsigned blocks_on(int device, std::int64_t threads) {
  check(cudaSetDevice(device), "select the device");
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

inline cudaStream_t stream_of(const Queue& queue) {
  return static_cast<cudaStream_t>(queue.stream);
}

/// Calls body(i) for i in [0, count).
template <typename Body>
void for_elements(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  over_elements<<<blocks_on(queue.device, count), kThreads, 0, stream_of(queue)>>>(body, count);
  check(cudaGetLastError(), "launch a kernel over elements");
}
/// Calls body(lanes, row) for row in [0, count).
template <typename Body>
void for_rows(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  over_rows<<<blocks_on(queue.device, count * kLanes), kThreads, 0, stream_of(queue)>>>(body,
                                                                                        count);
  check(cudaGetLastError(), "launch a kernel over rows");
}
/// Calls body(block, row) for row in [0, count) with body.shared_bytes() bytes of shared memory
/// each.
template <typename Body>
void for_blocks(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  const auto bytes = static_cast<std::size_t>(body.shared_bytes());
  blocks_on(queue.device, 0);
  if (bytes > 48 * 1024) {  // CUDA's limit without this attribute
    check(cudaFuncSetAttribute(over_blocks<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "reserve shared memory for a row of this width");
  }
  over_blocks<<<static_cast<unsigned>(count), kThreads, bytes, stream_of(queue)>>>(body);
  check(cudaGetLastError(), "launch a kernel over blocks");
}

#else

constexpr bool kEmulated = true;

inline int multiprocessors_of(int /*device*/) { return 1; }

template <typename Body>
void for_elements(const Queue& /*queue*/, std::int64_t count, const Body& body) {
  for (std::int64_t i = 0; i < count; ++i) body(i);
}
template <typename Body>
void for_rows(const Queue& /*queue*/, std::int64_t count, const Body& body) {
  for (std::int64_t row = 0; row < count; ++row) body(HostLanes(), row);
}
template <typename Body>
void for_blocks(const Queue& /*queue*/, std::int64_t count, const Body& body) {
  std::vector<double> memory(static_cast<std::size_t>(body.shared_bytes()) / sizeof(double) + 1);
  for (std::int64_t row = 0; row < count; ++row) body(HostBlock{memory.data()}, row);
}

#endif

}  // namespace lie::cuda
