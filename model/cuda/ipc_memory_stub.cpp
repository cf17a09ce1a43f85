#include "model/cuda/ipc_memory.h"

namespace lie::cuda {

std::optional<MemoryHandle> share_memory(int, void*, std::string& refusal) {
  refusal = "this program was built without CUDA";
  return {};
}

Buffer open_memory(int, const MemoryHandle&, std::string& refusal) {
  refusal = "this program was built without CUDA";
  return {};
}

}  // namespace lie::cuda
