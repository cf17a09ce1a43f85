// Computes curves from the trajectories alone, with the names of metrics.jsonl, for runs without a
// metrics file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns means by step of training responses, and of evaluation responses with the prefix
/// "eval_".
std::map<std::string, Curve> derived_curves(const SampleColumns& samples);

/// The metric of one verdict's share of responses, and its words: "no answer".
struct VerdictLine {
  std::string metric, words;
};

/// Returns a line for every VerdictCode, in the order of the codes.
std::vector<VerdictLine> verdict_lines();

/// Returns "equal", "unequal", ... for a number of VerdictCode in common/rollout/verdict.h.
std::string verdict_word(std::uint8_t code);

}  // namespace lie::analyze
