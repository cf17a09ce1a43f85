// Responses to read: a few of the start and of the end of a run.
#pragma once

#include <string>
#include <vector>

#include "tools/analyze/decoder.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

/// Indices into run.samples: training responses of the first step (a third of them) and of the last
/// one, of different groups, right and wrong in turn where there are both. At most `count`.
std::vector<std::size_t> chosen_responses(const Run& run, std::size_t count);

/// The prompt of response i of run.samples as HTML; texts are cut after some thousand characters.
std::string prompt_text(const Run& run, const Decoder& decode, std::size_t i);

/// Response, gold, extracted answer, verdict, rewards as HTML; `heading` is HTML.
std::string answer_text(const Run& run, const Decoder& decode, std::size_t i,
                        const std::string& heading);

/// The chosen responses as HTML cards, each with its prompt.
std::string response_cards(const Run& run, const Decoder& decode, std::size_t count);

}  // namespace lie::analyze
