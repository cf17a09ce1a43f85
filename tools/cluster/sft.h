// lie_cluster sft: fine-tunes a model as a config says.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/comm/job.h"

namespace lie {

/// Runs supervised fine-tuning with every rank as a learner. The result is the last checkpoint, a
/// Hugging Face model directory under run.directory/checkpoints. With `dry_run` it makes all checks
/// of a start and prints a summary, but neither trains nor writes. Throws Error. Collective over
/// all ranks.
void sft(Job& job, const std::filesystem::path& config, std::span<const std::string> overrides,
         bool dry_run = false);

/// Checks a config. Throws Error if it is not valid.
void check_sft_config(const std::filesystem::path& config);

/// Returns the help text of the keys whose names contain `part`, or of all keys if there are none.
std::string explain_sft_config(std::string_view part = "");

}  // namespace lie
