#include "model/cuda/ipc_memory.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>

namespace lie::cuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(MemoryHandle::allocation));

bool succeeds(cudaError_t code, std::string_view what, std::string_view remedy,
              std::string& refusal) {
  if (code == cudaSuccess) return true;
  cudaGetLastError();  // clears the error, which the next kernel would report as its own
  refusal = fmt::format("{}: {}; {}", what, cudaGetErrorString(code), remedy);
  return false;
}

/// Returns the beginning of an allocation, or null if the driver does not provide it. The driver
/// function is looked up by name, so that the program starts without a driver.
char* beginning_of(void* data) {
  using AddressRange = CUresult (*)(CUdeviceptr*, std::size_t*, CUdeviceptr);
  constexpr unsigned kSince = 3020;  // CUDA 3.2: 64-bit addresses
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, kSince, cudaEnableDefault,
                                       &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  CUdeviceptr first = 0;
  std::size_t bytes = 0;
  const auto ask = reinterpret_cast<AddressRange>(function);
  if (ask(&first, &bytes, std::bit_cast<CUdeviceptr>(data)) != CUDA_SUCCESS) return nullptr;
  return std::bit_cast<char*>(first);
}

}  // namespace

std::optional<MemoryHandle> share_memory(int device, void* data, std::string& refusal) {
  constexpr std::string_view kRemedy =
      "remove expandable_segments and backend:cudaMallocAsync from PYTORCH_CUDA_ALLOC_CONF";
  if (!succeeds(cudaSetDevice(device), "cudaSetDevice", "is the GPU lost?", refusal)) return {};
  char* const first = beginning_of(data);
  if (first == nullptr) {
    refusal = "the driver does not provide the beginning of an allocation (cuMemGetAddressRange)";
    return {};
  }
  cudaIpcMemHandle_t handle{};
  if (!succeeds(cudaIpcGetMemHandle(&handle, first), "cudaIpcGetMemHandle", kRemedy, refusal)) {
    return {};
  }
  MemoryHandle shared{.offset = static_cast<char*>(data) - first};
  std::memcpy(shared.allocation.data(), &handle, sizeof handle);
  return shared;
}

Buffer open_memory(int device, const MemoryHandle& shared, std::string& refusal) {
  constexpr std::string_view kRemedy =
      "ranks in containers must use the same IPC and PID namespaces (docker --ipc=host "
      "--pid=host), "
      "and MIG partitions of a GPU cannot share memory";
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, shared.allocation.data(), sizeof handle);
  void* first = nullptr;
  if (!succeeds(cudaSetDevice(device), "cudaSetDevice", "is the GPU lost?", refusal) ||
      !succeeds(cudaIpcOpenMemHandle(&first, handle, cudaIpcMemLazyEnablePeerAccess),
                "cudaIpcOpenMemHandle", kRemedy, refusal)) {
    return {};
  }
  return {Tensor{.data = first}, Buffer::Owner(
                                     first, +[](void* mapped) { cudaIpcCloseMemHandle(mapped); })};
}

}  // namespace lie::cuda
