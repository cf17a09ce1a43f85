// Added tokens that a model directory names in other files than tokenizer.json, as transformers
// reads them.
#pragma once

#include <filesystem>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"

namespace lie {

/// Returns the tokens of added_tokens_decoder in tokenizer_config.json and those of
/// added_tokens.json, each once. A token of the latter is special if tokenizer_config.json names it
/// as bos_token, additional_special_tokens or the like. Throws Error that names file and token if
/// they give a token two ids or an id two tokens.
std::vector<AddedToken> tokens_beside(const std::filesystem::path& directory);

/// Appends those of tokens_beside() that `spec` lacks. Throws Error if `spec` has such a token or
/// id otherwise.
void add_tokens_beside(const std::filesystem::path& directory, TokenizerSpec& spec);

}  // namespace lie
