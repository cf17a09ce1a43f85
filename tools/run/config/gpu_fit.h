// Whether the roles of a run fit into the memory of its GPUs, and which settings make them fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/roles.h"
#include "model/config/model_config.h"
#include "model/operators/operators.h"
#include "tools/run/config/role_memory.h"
#include "tools/run/config/train_config.h"

namespace lie {

/// Equal hosts, on each of which the learners and actors share the GPUs in turn.
struct GpuHosts {
  std::int64_t gpus = 1;   // of each host
  std::int64_t bytes = 0;  // of each GPU, free before the run
  /// What a process takes on a GPU beside the memory of its plan: CUDA, cuBLAS, NCCL, fragments.
  std::int64_t process_bytes = 0;
};

/// The roles on one GPU and what they need together.
struct GpuUse {
  std::int64_t learners = 0, actors = 0;
  std::int64_t bytes = 0;
};

/// Returns the use of the GPU that needs most. `memory` is that of memory_of_roles().
GpuUse fullest_gpu(const RoleLayout& layout, const std::vector<RoleMemory>& memory,
                   const GpuHosts& hosts);

/// Returns the bytes of host memory that the roles on GPUs take on the host that needs most.
std::int64_t fullest_host(const RoleLayout& layout, const std::vector<RoleMemory>& memory);

/// Sets rollout.cache_mebibytes where it is 0: to the largest cache with which the fullest GPU
/// keeps a sixteenth of its memory free, and at least to what one response needs.
void set_cache(TrainConfig& config, const ModelConfig& model, const ComputeDTypes& dtypes,
               const RoleLayout& layout, const GpuHosts& hosts);

/// Returns an error if the roles do not fit: what the fullest GPU lacks, and the fewest settings
/// with which they fit on the same ranks, or that none are known. Empty if they fit.
std::string gpu_misfit(const TrainConfig& config, const ModelConfig& model,
                       const ComputeDTypes& dtypes, const RoleLayout& layout,
                       const GpuHosts& hosts);

}  // namespace lie
