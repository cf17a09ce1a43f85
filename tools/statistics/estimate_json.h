// Converts estimates from and to JSON: {"value": 0.5, "low": 0.4, "high": 0.6}.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/statistics/intervals.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, value, low, high)

}  // namespace lie
