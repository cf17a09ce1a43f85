// The report's curves, ends and length statistics as JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

struct ShownCurves {
  std::vector<std::int64_t> grid;   // the steps that all curves keep; empty: curves keep all steps
  Json by_subject = Json::array();  // [{metric: [point]}]
  std::vector<std::string> shares;  // the metrics that are shares
};

/// Returns all curves. Values that are not finite are omitted. Many steps are reduced, of each
/// metric, to a grid and the steps at which some subject's value is smallest or largest between two
/// steps of the grid.
ShownCurves shown_curves(std::span<const Subject> subjects);

/// Returns {metric: [start, end, low, high]} as texts; the interval is that of the end.
Json ends_of(const Subject& subject);

/// Returns the lines of the hazard and of the tail, and what relates length and C_context.
Json trap_of(const Subject& subject);

}  // namespace lie::analyze
