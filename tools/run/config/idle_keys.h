// Keys that are set but have no effect because of other keys.
#pragma once

#include <string>
#include <vector>

#include "tools/run/config/train_config.h"

namespace lie {

/// Returns a sentence for each section with keys that differ from their defaults and have no
/// effect, naming what would give them one. A reward term that is on by default and was switched
/// off, as for a baseline, is no mistake.
std::vector<std::string> idle_key_warnings(const TrainConfig& config);

}  // namespace lie
