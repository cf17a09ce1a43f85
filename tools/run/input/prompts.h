// Reads the prompts of a dataset and renders them with a model's template.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/dataset/data_options.h"
#include "common/dataset/dataset.h"
#include "common/process/log.h"
#include "common/rollout/prompt_stream.h"

namespace lie {

/// Throws Error if two of the files that `key` names are one file, also under different paths.
/// `remedy` ends the message.
void check_distinct_files(std::string_view key, std::span<const std::string> files,
                          std::string_view remedy = "");

/// Reads `file` with options.prompt_template; the template "model" is the one in `model_directory`.
/// Throws Error.
Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory);

/// Reads `file` likewise. Dataset::remarks names correct answers that the verifier cannot read,
/// special tokens in texts, and the like.
Dataset read_remarked_prompts(const std::filesystem::path& file, const RowOptions& options,
                              const std::filesystem::path& model_directory);

/// Reads `file` likewise, and warns on `log` of skipped rows and of all remarks.
Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory, const Log& log);

/// Returns the prompts of data.train_file. Rows are numbered and named across the files as those of
/// read_evaluation_prompts(). Warns on `log`, unless it is null, as read_run_prompts() does. Throws
/// Error if a file is named twice.
TrainingPrompts read_training_prompts(const DataOptions& options,
                                      const std::filesystem::path& model_directory, const Log* log);

/// Returns the remark on rows whose earlier answers a template without roles joins with the rest,
/// of `rows` rows in all; empty if `count` is 0.
std::string joined_turns_text(std::int64_t count, std::int64_t rows,
                              std::string_view prompt_template);

/// Returns the prompts of all files, the first `prompts_of_file` of each (0: all). Rows are
/// numbered across the files, so that no two prompts have the same Prompt::problem. If there are
/// several files, a row without a data source gets its file's name without extension as source; a
/// line says so if two files share a source. Only prompts of `sources` are taken, unless it is
/// empty. Throws Error if no row has one of them, or if a file is named twice.
std::vector<Prompt> read_evaluation_prompts(std::span<const std::string> files,
                                            std::int64_t prompts_of_file, const RowOptions& options,
                                            const std::filesystem::path& model_directory,
                                            const Log& log,
                                            std::span<const std::string> sources = {});

/// Warns if prompts were truncated, since they then differ from the dataset's.
void warn_of_truncation(const Log& log, std::int64_t truncated, std::int64_t prompts,
                        std::int64_t max_prompt_tokens);

}  // namespace lie
