// A training group by the prompt stream: what its random keys are of, whichever step trains on it.
#pragma once

#include <compare>
#include <cstdint>

namespace lie {

struct DrawnGroup {
  std::int64_t step = -1;   // that drew its prompt
  std::int64_t group = -1;  // its number there
  auto operator<=>(const DrawnGroup&) const = default;
};

}  // namespace lie
