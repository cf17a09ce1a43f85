// A dataset's prompts under a model's template: what the roles and the other commands read.
#pragma once

#include <filesystem>
#include <string>

#include "common/dataset/dataset.h"
#include "common/log.h"

namespace lie {

/// Reads `file` with options.prompt_template ("model": of `model_directory`). Throws Error.
Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory);

/// Warns of prompts that lost tokens: they are no longer the dataset's.
void warn_of_truncation(const Log& voice, std::int64_t truncated, std::int64_t prompts,
                        std::int64_t max_prompt_tokens);

}  // namespace lie
