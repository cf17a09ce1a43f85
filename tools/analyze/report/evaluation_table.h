// Shows the estimates of `lie_cluster eval`, read from table.json in its directory: Avg@k with
// intervals by data source, pass@k, maj@k and the accuracy at token budgets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/analyze/run.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {

struct EvaluationRow {
  std::string source;  // a data source, "all problems" or "mean of sources"
  std::int64_t problems = 0, samples = 0;
  Estimate average;
  /// Estimates by k or budget, under "pass", "majority" and "budgets".
  std::map<std::string, std::map<std::int64_t, Estimate>> curves;
};

/// Returns the rows of a directory, or none if it has no table.json. Throws Error naming a file
/// that is not such a table.
std::vector<EvaluationRow> read_evaluation(const std::filesystem::path& directory);

/// Returns the table, Avg@k with its interval as a bar, and the charts as HTML. Empty if no subject
/// has a table. Of several seeds only the first is shown.
std::string evaluation_section(std::span<const Subject> subjects);

}  // namespace lie::analyze
