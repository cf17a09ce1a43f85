// Numbers and ranges of things in messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace lie {

/// Returns "1 step" or "2 steps".
inline std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

/// Returns "step 3" or "steps 3 to 5".
inline std::string numbered(std::string_view thing, std::int64_t first, std::int64_t last) {
  if (first == last) return fmt::format("{} {}", thing, first);
  return fmt::format("{}s {} to {}", thing, first, last);
}

/// Returns "step 3 is" or "steps 3 to 5 are".
inline std::string numbered_are(std::string_view thing, std::int64_t first, std::int64_t last) {
  return numbered(thing, first, last) + (first == last ? " is" : " are");
}

}  // namespace lie
