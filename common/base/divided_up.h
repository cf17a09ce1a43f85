// Integer division that rounds up.
#pragma once

#include <cstdint>

namespace lie {

/// Returns `whole` / `part`, rounded up. Requires `whole` >= 0 and `part` >= 1.
inline std::int64_t divided_up(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

}  // namespace lie
