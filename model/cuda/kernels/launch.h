// Runs row functions over all rows of a call: as kernels if nvcc compiles this file, otherwise in
// loops on emulated lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// Begins a kernel, which launch() lets start before the one before it has ended: waits until its
/// results are visible, then lets the next kernel start. So no kernel reads or writes memory before
/// all earlier ones have ended.
__device__ __forceinline__ void begin_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

template <typename Body>
__global__ void __launch_bounds__(kThreads) over_elements(Body body, std::int64_t count) {
  begin_kernel();
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) body(i);
}
template <typename Body>
__global__ void __launch_bounds__(kThreads) over_rows(Body body, std::int64_t count) {
  begin_kernel();
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
  begin_kernel();
  extern __shared__ __align__(16) double memory[];
  body(DeviceBlock{memory}, std::int64_t{blockIdx.x});
}

inline int multiprocessors_of(int device) {
  int count = 1;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
        "count the multiprocessors");
  return count;
}

constexpr std::int64_t blocks_for(std::int64_t threads) {
  return (threads + kThreads - 1) / kThreads;
}

/// Launches a kernel on the queue. It may start while the kernel before it ends (programmatic
/// dependent launch, also in a CUDA graph) if the current device runs code that waits for that:
/// code that was compiled for compute capability 9.0 or later.
template <typename... Arguments>
void launch(const Queue& queue, void (*kernel)(Arguments...), std::int64_t blocks,
            std::size_t shared_bytes, const char* what, std::type_identity_t<Arguments>... of) {
  check(cudaSetDevice(queue.device), "select the device");
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, kernel), what);
  cudaLaunchAttribute starts_early{};
  starts_early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  starts_early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = kThreads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(queue.stream);
  config.attrs = &starts_early;
  config.numAttrs = code.ptxVersion >= 90 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, of...), what);
}

/// Calls body(i) for i in [0, count).
template <typename Body>
void for_elements(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  launch(queue, over_elements<Body>, blocks_for(count), 0, "launch a kernel over elements", body,
         count);
}
/// Calls body(lanes, row) for row in [0, count).
template <typename Body>
void for_rows(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  launch(queue, over_rows<Body>, blocks_for(count * kLanes), 0, "launch a kernel over rows", body,
         count);
}
/// Calls body(block, row) for row in [0, count) with body.shared_bytes() bytes of shared memory
/// each.
template <typename Body>
void for_blocks(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  const auto bytes = static_cast<std::size_t>(body.shared_bytes());
  if (bytes > 48 * 1024) {  // CUDA's limit without this attribute
    check(cudaSetDevice(queue.device), "select the device");
    check(cudaFuncSetAttribute(over_blocks<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "reserve shared memory for a row of this width");
  }
  launch(queue, over_blocks<Body>, count, bytes, "launch a kernel over blocks", body);
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
