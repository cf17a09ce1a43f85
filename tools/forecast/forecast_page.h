// The picture of a forecast: one HTML page without scripts or other files.
#pragma once

#include <string>
#include <string_view>

#include "tools/forecast/forecast.h"

namespace lie {

/// Returns a page with the accuracies at natural and forced lengths, their intervals, and the text
/// of the forecast. `name` is that of the config.
std::string forecast_page(const Forecast& forecast, std::string_view name);

}  // namespace lie
