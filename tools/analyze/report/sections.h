// Makes the report's charts, by section.
#pragma once

#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Each function returns the section's figures as HTML; empty if no subject has the data.
std::string learning_charts(std::span<const Subject> subjects);
/// Returns the losses of `lie_cluster sft`; empty if a subject was trained by reinforcement
/// learning.
std::string tuning_charts(std::span<const Subject> subjects);
std::string exploration_charts(std::span<const Subject> subjects);
std::string reward_charts(std::span<const Subject> subjects);
std::string update_charts(std::span<const Subject> subjects);
std::string speed_charts(std::span<const Subject> subjects);
std::string trap_charts(std::span<const Subject> subjects);

}  // namespace lie::analyze
