// What a config asks of a step, as the simulator takes it.
#pragma once

#include <cstdint>

#include "tools/plan/simulator.h"
#include "tools/run/train_config.h"

namespace lie::planning {

/// `prompt_tokens`: of a usual prompt. Throws Error where the simulator does not know what the
/// config asks for, or a response does not fit the KV cache.
Workload workload_of(const TrainConfig& config, const ModelConfig& model,
                     std::int64_t prompt_tokens);

}  // namespace lie::planning
