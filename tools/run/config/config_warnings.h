// What is legal in a config but surely a mistake.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"
#include "tools/run/config/train_config.h"

namespace lie {

/// A sentence each, with the keys to change; empty: nothing strikes. Prompts that are too long are
/// counted with the model's tokenizer. Throws Error if that cannot be read.
std::vector<std::string> config_warnings(const TrainConfig& config,
                                         std::span<const Prompt> training);

}  // namespace lie
