// Coverage metrics besides the reward's: the further n that runs measured, and where C_global is an
// estimate.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns the n of coverage.metric_ngrams of all runs, ascending.
std::set<std::int64_t> metric_ngrams(std::span<const Subject> subjects);

/// Returns whether `name`, a further number of responses, is one of coverage.metric_ngrams, such as
/// "c_context_10".
bool is_coverage_number(std::string_view name);

/// Returns for each estimated metric "c_global_run is an estimate from step 120 on (standard error
/// 0.20 %)".
std::vector<std::string> estimate_notes(const std::map<std::string, Curve>& curves);

}  // namespace lie::analyze
