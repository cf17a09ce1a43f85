// Curves made from the trajectories alone, under the names of metrics.jsonl: for runs without a
// metrics file.
#pragma once

#include <map>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Means by step of training responses, and eval_accuracy of evaluation responses.
std::map<std::string, Curve> derived_curves(const SampleColumns& samples);

/// "equal", "unequal", ...: the verdict codes of common/rollout/verdict.h by number.
std::string verdict_word(std::uint8_t code);

}  // namespace lie::analyze
