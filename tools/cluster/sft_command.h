// lie_cluster sft: from a config to a fine-tuned model.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/comm/job.h"

namespace lie {

/// Every rank is a learner. The result is the last checkpoint: a Hugging Face model directory under
/// run.directory/checkpoints. With `dry_run` all checks of a start are made and told of, nothing is
/// trained or written. Throws Error. Collective over the world.
void sft(Job& job, const std::filesystem::path& config, std::span<const std::string> overrides,
         bool dry_run = false);

/// Reads a config without using it. Throws Error if it is not valid.
void check_sft_config(const std::filesystem::path& config);

/// The keys whose names hold `part` with default, unit, range and sentence; all where none does.
std::string explain_sft_config(std::string_view part = "");

}  // namespace lie
