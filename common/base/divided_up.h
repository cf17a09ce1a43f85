// Whole numbers.
#pragma once

#include <cstdint>

namespace lie {

/// How many parts of this size hold `whole`; `whole` is at least 0, `part` at least 1.
inline std::int64_t divided_up(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

}  // namespace lie
