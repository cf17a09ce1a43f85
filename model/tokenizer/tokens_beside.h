// Added tokens of a model directory: those that it names in other files than tokenizer.json, as
// transformers reads them, and the check that no two contradict each other.
#pragma once

#include <filesystem>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"

namespace lie {

/// Returns the tokens of added_tokens_decoder in tokenizer_config.json and those of
/// added_tokens.json, each once. A token of the latter is special if the tokenizer's config names
/// it as bos_token, additional_special_tokens or the like. Throws Error that names file and token
/// if they give a token two ids or an id two tokens.
std::vector<AddedToken> tokens_beside(const std::filesystem::path& directory);

/// Appends those of tokens_beside() that `spec` lacks, and the special tokens that the tokenizer's
/// config names and the vocabulary holds. Flags of added_tokens_decoder replace others. Throws
/// Error that names file and token if the tokens of all files give a token two ids or an id two
/// tokens, if a named special token has no id, or if tokenizer.json gives an added token an id that
/// the tokenizers library would not use.
void add_tokens_beside(const std::filesystem::path& directory, TokenizerSpec& spec);

}  // namespace lie
