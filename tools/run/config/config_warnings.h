// Finds settings that are legal in a config but almost certainly mistakes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"
#include "tools/run/config/train_config.h"

namespace lie {

/// Returns one sentence for each likely mistake, naming the keys to change. Counts the prompts that
/// are too long with the model's tokenizer. Throws Error if the tokenizer cannot be read.
std::vector<std::string> config_warnings(const TrainConfig& config,
                                         std::span<const Prompt> training);

}  // namespace lie
