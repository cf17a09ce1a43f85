// Reads and writes JSON files, with errors that name file and position.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lie {

using Json = nlohmann::json;

/// The maximum nesting depth of lists and objects. The parser recurses at each level, so without a
/// limit an untrusted file could exhaust the stack.
inline constexpr int kMostJsonLevels = 512;

/// Returns whether JSON text has more than kMostJsonLevels.
bool nests_too_deep(std::string_view text);

/// Parses JSON text. `where` names the text in errors ("model/config.json"). Throws Error with line
/// and column of a syntax error or of invalid UTF-8, with the name of a duplicate key, or if the
/// text nests too deep.
Json parse_json(std::string_view text, std::string_view where);

/// Reads and parses a file. Throws Error with its name if it cannot be read or parsed.
Json read_json(const std::filesystem::path& path);

/// Writes indented JSON and a final newline. Throws Error if the file cannot be written.
void write_json(const Json& value, const std::filesystem::path& path);

}  // namespace lie
