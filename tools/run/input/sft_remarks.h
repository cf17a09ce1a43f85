// Finds likely mistakes in the texts of fine-tuning rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "learner/sft/sft_options.h"
#include "model/tokenizer/template/templates.h"

namespace lie {

/// Returns a sentence for each kind of likely mistake in the rows of a file, which are read as
/// load_sft_examples() reads them. `special_tokens` are those of Tokenizer::special_tokens().
/// `prompts` renders the rows. Malformed rows do not count. Throws Error if the file cannot be
/// read.
std::vector<std::string> sft_remarks(const std::filesystem::path& file,
                                     const SftRowOptions& options,
                                     std::vector<std::string> special_tokens,
                                     const PromptTemplate& prompts);

}  // namespace lie
