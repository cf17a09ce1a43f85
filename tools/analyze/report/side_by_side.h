// Compares the answers of several runs to the same prompts, by data source.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"
#include "tools/analyze/decoder.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

/// Index of the answer in run.samples, by run.
using SharedPrompt = std::vector<std::size_t>;

/// Returns, by data source, prompts that all runs answered. For kEvaluate these are answers of the
/// last evaluation; for kTrain, the latest answers in training. The first response of a group
/// counts. About `most` prompts are chosen evenly, at least one of each source. Prompts match if
/// they have the same row, text and gold answer.
std::map<std::string, std::vector<SharedPrompt>> shared_prompts(std::span<const Run* const> runs,
                                                                Purpose purpose, std::size_t most);

/// Returns the comparison of each subject's first run as HTML; empty if the runs share no prompt.
std::string side_by_side(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                         Purpose purpose, std::size_t most);

}  // namespace lie::analyze
