// Measures what a step costs on this machine: times the generator, scoring and update with the
// config's model.
#pragma once

#include <cstdint>
#include <span>

#include "common/rollout/rollout.h"
#include "tools/plan/costs.h"
#include "tools/run/config/train_config.h"

namespace lie::planning {

struct CalibrationWork {
  const TrainConfig& config;
  std::span<const Prompt> prompts;
  std::int64_t prompt_tokens = 0;    // tokens of a typical prompt
  std::int64_t response_tokens = 0;  // tokens of a typical response
};

/// Measures once for each number of threads. Takes seconds with a small model; longer work is timed
/// over fewer passes. Throws Error as loading the model does.
Costs measure_costs(const CalibrationWork& work, std::span<const int> threads);

}  // namespace lie::planning
