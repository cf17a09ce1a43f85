// A few responses of the start and the end of a run.
#pragma once

#include <string>
#include <vector>

#include "tools/analyze/decoder.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns indices into run.samples of at most `count` training responses: a third from the first
/// step, the rest from the last. They belong to different groups and alternate between correct and
/// incorrect where possible.
std::vector<std::size_t> chosen_responses(const Run& run, std::size_t count);

/// Returns the responses of the last training step as plain text: at most `count`, alternately
/// correct and incorrect where possible. Empty if no training step is complete.
std::string last_responses(const Run& run, const Decoder& decode, std::size_t count);

}  // namespace lie::analyze
