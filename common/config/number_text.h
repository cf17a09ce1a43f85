// Parses numbers and number ranges from configs and command lines, and describes their ranges.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "common/config/options.h"

namespace lie {

/// Returns "0 to 1" or "at least 1". Empty: any number is allowed.
std::string range_text(const FieldInfo& info);
/// Returns `kind`, followed by ", " and the range if there is one.
std::string with_range(std::string kind, const std::string& range);

/// Parses an integer within the range of `info`. Throws Error that says what was expected.
std::int64_t parse_integer(std::string_view text, const FieldInfo& info);
/// Parses a finite number within the range of `info`. Throws Error that says what was expected.
double parse_number(std::string_view text, const FieldInfo& info);

struct NumberRange {
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
  bool contains(std::int64_t number) const { return first <= number && number <= last; }
};

/// Parses "5-10", "5-" (5 and all after), "-10" or "7". An empty text means all numbers. Throws
/// Error with the option's name for any other text.
NumberRange parse_number_range(std::string_view option, const std::string& text);

}  // namespace lie
