// lie_cluster sft: from a config to a fine-tuned model.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "common/comm/job.h"

namespace lie {

/// Every rank is a learner. The result is the last checkpoint: a Hugging Face model directory under
/// run.directory/checkpoints. Throws Error. Collective over the world.
void sft(Job& job, const std::filesystem::path& config, std::span<const std::string> overrides);

/// Reads a config without using it. Throws Error if it is not valid.
void check_sft_config(const std::filesystem::path& config);

/// All keys with default, unit, range and sentence.
std::string explain_sft_config();

}  // namespace lie
