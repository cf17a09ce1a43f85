// Identifies a training group by the place where the prompt stream drew it. Random keys are derived
// from this identity, whichever step trains on the group.
#pragma once

#include <compare>
#include <cstdint>

namespace lie {

struct DrawnGroup {
  std::int64_t step = -1;   // step that drew the prompt
  std::int64_t group = -1;  // position within that step
  auto operator<=>(const DrawnGroup&) const = default;
};

}  // namespace lie
