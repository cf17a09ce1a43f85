// "5-10": the steps or groups that a command is asked for.
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

/// "5-10", "5-" (and all after), "-10", "7"; empty: all. Throws Error naming the option for any
/// other text.
NumberRange parse_number_range(std::string_view option, const std::string& text);

}  // namespace lie
