// What a step costs here: the program's own generator, scoring and update, timed with the config's
// model on this machine.
#pragma once

#include <cstdint>
#include <span>

#include "common/rollout/rollout.h"
#include "tools/plan/costs.h"
#include "tools/run/config/train_config.h"

namespace lie::planning {

/// What is timed.
struct CalibrationWork {
  const TrainConfig& config;
  std::span<const Prompt> prompts;
  std::int64_t prompt_tokens = 0;    // of a usual prompt
  std::int64_t response_tokens = 0;  // of a usual response
};

/// Once with each number of threads. Takes seconds with a small model; what needs longer is timed
/// over fewer passes. Throws Error as loading the model does.
Costs measure_costs(const CalibrationWork& work, std::span<const int> threads);

}  // namespace lie::planning
