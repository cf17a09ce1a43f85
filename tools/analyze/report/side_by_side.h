// The same prompts across runs: what each answered, beside each other, by data source.
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

/// Of each run the index of its answer in run.samples.
using SharedPrompt = std::vector<std::size_t>;

/// Prompts, by data source, that all runs answered: in their last evaluation, or anywhere in
/// training, of which the latest answer counts; of a group its first response. Evenly chosen, about
/// `most` in all, of each source at least one. The runs are those of the same data file and row
/// with the same text and gold answer.
std::map<std::string, std::vector<SharedPrompt>> shared_prompts(std::span<const Run* const> runs,
                                                                Purpose purpose, std::size_t most);

/// As HTML, of the first run of each subject; empty where they share none.
std::string side_by_side(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                         Purpose purpose, std::size_t most);

}  // namespace lie::analyze
