// "5-10": the steps that a command is asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace lie::replay {

struct StepRange {
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
  bool contains(std::int64_t step) const { return first <= step && step <= last; }
};

/// "5-10", "5-" (and all after), "-10", "7"; empty: all. Throws Error for any other text.
StepRange parse_step_range(const std::string& text);

}  // namespace lie::replay
