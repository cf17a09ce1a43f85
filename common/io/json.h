// Reads and writes JSON files, with errors that name file and position, and keeps the numbers of
// JSON text that a parser would round.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
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

/// Parses JSON text like parse_json(), but without rounding and with NaN. A number that neither a
/// 64-bit integer nor a double holds exactly as it is written becomes a string of its literal:
/// "18446744073709551617", "0.1234567890123456789", "1e400". NaN, Infinity and -Infinity, which
/// Python writes and JSON lacks, become numbers that are not finite. Throws Error like
/// parse_json().
nlohmann::json parse_exact_json(std::string_view text, std::string_view where);

/// Returns the nearest double to a literal that parse_exact_json() keeps as a string. Nothing for
/// other texts, and for numbers beyond the range of doubles.
std::optional<double> value_of_literal(std::string_view text);

/// Returns JSON text in which the numbers that a parser would round are strings of their literals.
std::string quote_rounded_numbers(std::string_view text);

/// Returns JSON text in which the numbers that a parser would round, NaN and the infinities are
/// marked strings. restored_numbers() converts them back.
std::string mark_rounded_numbers(std::string_view text);

/// Returns JSON text in which the strings of mark_rounded_numbers() are the numbers that they were.
std::string restored_numbers(std::string_view text);

}  // namespace lie
