// Device memory of one process that another process on the same GPU maps.
#pragma once

#include <optional>
#include <string>

#include "model/operators/tensor.h"

namespace lie::cuda {

/// Returns a handle of memory that `device` allocated with cudaMalloc. ATen divides one such
/// allocation into many tensors. On failure, and always in a build without CUDA, returns nothing
/// and sets `refusal` to the reason and the remedy.
std::optional<MemoryHandle> share_memory(int device, void* data, std::string& refusal);

/// Maps an allocation and returns its beginning, which is unmapped with the buffer. Returns an
/// empty buffer and sets `refusal` on failure. After the owner process has ended, the memory must
/// not be read any more.
Buffer open_memory(int device, const MemoryHandle& handle, std::string& refusal);

}  // namespace lie::cuda
