// A dataset's prompts under a model's template: what the roles and the other commands read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/dataset/dataset.h"
#include "common/process/log.h"

namespace lie {

/// Reads `file` with options.prompt_template ("model": of `model_directory`). Throws Error.
Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory);

/// The same; warns of rows that were left out or whose right choice was a number.
Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory, const Log& voice);

/// The prompts of all files, of each the first `prompts_of_file` (0: all). Their rows are numbered
/// through the files: no two prompts have the same Prompt::problem. Where there are several files,
/// a row without a data source has the file's name, without its ending, as its source.
std::vector<Prompt> read_evaluation_prompts(std::span<const std::string> files,
                                            std::int64_t prompts_of_file, const RowOptions& options,
                                            const std::filesystem::path& model_directory,
                                            const Log& voice);

/// Warns of prompts that lost tokens: they are no longer the dataset's.
void warn_of_truncation(const Log& voice, std::int64_t truncated, std::int64_t prompts,
                        std::int64_t max_prompt_tokens);

}  // namespace lie
