// Ranges of steps or groups on the command line, such as "5-10".
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace lie {

struct NumberRange {
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
  bool contains(std::int64_t number) const { return first <= number && number <= last; }
};

/// Parses "5-10", "5-" (5 and all after), "-10" or "7". An empty text means all numbers. Throws
/// Error with the option's name for any other text.
NumberRange parse_number_range(std::string_view option, const std::string& text);

}  // namespace lie
