// Numbers of JSON text that a parser would round, and NaN and the infinities, which Python writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/io/json.h"

namespace lie {

/// Parses JSON text like parse_json(), but without rounding and with NaN. A number that neither a
/// 64-bit integer nor a double holds exactly as it is written becomes a string of its literal:
/// "18446744073709551617", "0.1234567890123456789", "1e400". NaN, Infinity and -Infinity, which
/// Python writes and JSON lacks, become numbers that are not finite. Throws Error like
/// parse_json().
Json parse_exact_json(std::string_view text, std::string_view where);

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
