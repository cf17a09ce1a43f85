// A dataset's prompts under a model's template: what the roles and the other commands read.
#pragma once

#include <filesystem>
#include <string>

#include "common/dataset/dataset.h"

namespace lie {

/// Reads `file` with options.prompt_template ("model": of `model_directory`). Throws Error.
Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory);

}  // namespace lie
