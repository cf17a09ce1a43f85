// The report's charts, by section.
#pragma once

#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Each returns the section's figures as HTML; empty where no subject has what it shows.
std::string learning_charts(std::span<const Subject> subjects);
/// Of `lie_cluster sft`: the losses. Nothing where a subject was trained by reinforcement.
std::string tuning_charts(std::span<const Subject> subjects);
std::string exploration_charts(std::span<const Subject> subjects);
std::string reward_charts(std::span<const Subject> subjects);
std::string update_charts(std::span<const Subject> subjects);
std::string speed_charts(std::span<const Subject> subjects);
std::string trap_charts(std::span<const Subject> subjects);

}  // namespace lie::analyze
