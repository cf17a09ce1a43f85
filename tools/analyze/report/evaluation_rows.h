// The estimates of `lie_cluster eval` as the report shows them.
#pragma once

#include "common/io/json.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns {evaluation: [row], evaluation_confidence: c}. The rows are those of the table.json that
/// `lie_cluster eval` wrote; none if there is no such file. c is the level of their intervals over
/// problems, or null without rows. Of several runs the rows are means over those that have a table,
/// at the sources, budgets and k that all of these have. Their intervals are 95 % t intervals over
/// the runs, cut to [0, 1]. Throws Error naming a table.json that eval did not write.
Json evaluation_of(const Subject& subject);

}  // namespace lie::analyze
