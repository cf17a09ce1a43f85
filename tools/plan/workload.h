// What a config asks of a step, as the simulator takes it.
#pragma once

#include <cstdint>

#include "common/base/dtype.h"
#include "tools/plan/simulator.h"
#include "tools/run/config/train_config.h"

namespace lie::planning {

/// Of a usual prompt and response.
struct MeanTokens {
  std::int64_t prompt = 0, response = 0;
};

/// `cached`: the operators' packed_dtype(). Throws Error where the simulator does not know
/// what the config asks for, or a response does not fit the KV cache.
Workload workload_of(const TrainConfig& config, const ModelConfig& model, DType cached,
                     const MeanTokens& mean);

}  // namespace lie::planning
