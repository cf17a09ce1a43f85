// Device memory of one process, mapped by another one on the same GPU. It has not yet run on a GPU.
#pragma once

#include <optional>
#include <string>

#include "model/operators/tensor.h"

namespace lie::cuda {

/// Of memory that `device` allocated with cudaMalloc; ATen cuts one such allocation into many
/// tensors. Empty: `refusal` says why and what to do; as always in a build without CUDA.
std::optional<MemoryHandle> share_memory(int device, void* data, std::string& refusal);

/// The allocation's beginning, unmapped with the buffer; empty: refused. That of a process that has
/// ended must not be read any more.
Buffer open_memory(int device, const MemoryHandle& handle, std::string& refusal);

}  // namespace lie::cuda
