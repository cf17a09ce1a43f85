// Behaviors counted by their wording, without a judge: a proxy. It finds what a text announces, not
// what it does, in English only; the reasoning graph it cannot see at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/measures.h"

namespace lie::judge {

/// A phrase: parts of words in sequence, between which up to 12 words of the same sentence may lie.
struct Phrase {
  std::size_t measure = 0;  // of kMeasures
  std::vector<std::vector<std::string>> parts;
};

/// Reads the lines of assets/judge/phrases.txt, which explains itself. `place` names the text in
/// errors. Throws Error.
std::vector<Phrase> parse_phrases(std::string_view text, const std::string& place);

/// The number of sentences that hold a phrase, for each measure that has one. A sentence ends at
/// a mark . ! ? that no letter or digit follows, and at an empty line. Case of ASCII letters does
/// not matter; an apostrophe may be typographic.
Values count_phrases(const std::vector<Phrase>& phrases, std::string_view response);

}  // namespace lie::judge
