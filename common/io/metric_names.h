// Metrics that have changed their names.
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// Returns the present name of a metric of an older run, or the name itself. The same list is in
/// python/lie_cluster/metric_names.py; a test compares the two.
std::string present_metric_name(std::string_view name);

}  // namespace lie
