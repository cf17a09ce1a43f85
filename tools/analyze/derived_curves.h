// Computes curves from the trajectories alone, with the names of metrics.jsonl, for runs without a
// metrics file.
#pragma once

#include <map>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns means by step of training responses, and of evaluation responses with the prefix
/// "eval_".
std::map<std::string, Curve> derived_curves(const SampleColumns& samples);

}  // namespace lie::analyze
