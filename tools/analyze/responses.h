// Responses to read: a few of the start and of the end of a run.
#pragma once

#include <string>
#include <vector>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Indices into run.samples: training responses of the first step (a third of them) and of the last
/// one, of different groups, right and wrong in turn where there are both. At most `count`.
std::vector<std::size_t> chosen_responses(const Run& run, std::size_t count);

/// The chosen responses as HTML cards: prompt, response, gold, extracted answer, verdict, rewards.
std::string response_cards(const Run& run, std::size_t count);

}  // namespace lie::analyze
