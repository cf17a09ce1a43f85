// tokenizer_config.json of a model directory, together with special_tokens_map.json.
#pragma once

#include <filesystem>
#include <string>

#include "common/io/json.h"

namespace lie {

/// Returns the JSON object in a file, an empty one if there is no such file. Throws Error that
/// names the file if it holds something else.
Json object_of_file(const std::filesystem::path& path);

/// Returns the content of tokenizer_config.json, an empty object if there is no such file. Without
/// added_tokens_decoder it is of an older form, which special_tokens_map.json completes: as in
/// transformers, tokens of that file then replace those of tokenizer_config.json. Throws Error that
/// names the file if one is not a JSON object.
Json read_tokenizer_config(const std::filesystem::path& directory);

/// Returns the names of the files that exist, as errors about their content show them.
std::string tokenizer_config_place(const std::filesystem::path& directory);

}  // namespace lie
