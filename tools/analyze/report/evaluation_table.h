// What `lie_cluster eval` estimated, as table.json in its directory holds it: Avg@k with intervals
// by data source, pass@k, maj@k and the accuracy at token budgets.
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
  std::string source;  // or "all problems", "mean of sources"
  std::int64_t problems = 0, samples = 0;
  Estimate average;
  /// "pass", "majority", "budgets": estimates by k or budget.
  std::map<std::string, std::map<std::int64_t, Estimate>> curves;
};

/// The rows of a directory; none where it has no table.json. Throws Error naming a file that is
/// none.
std::vector<EvaluationRow> read_evaluation(const std::filesystem::path& directory);

/// The table, Avg@k with its interval as a bar, and the charts; empty where no subject has any. Of
/// several seeds the first is shown.
std::string evaluation_section(std::span<const Subject> subjects);

}  // namespace lie::analyze
