// Where the answer may be in a text: candidates in the order in which they are tried.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/rules/options.h"

namespace lie::extract {

/// One place where an answer may be.
struct Candidate {
  std::string text;     // LaTeX or plain mathematics
  bool choice = false;  // one of options.choices, to be compared as a string
};

/// Reward mode: the last balanced box with those that belong to it, or nothing. Linear in the text.
std::vector<Candidate> from_boxes(std::string_view response, const VerifierOptions& options);

/// Called with one candidate after another, best first, until it returns true. A candidate's text
/// is made when its turn comes, so that unused candidates cost little.
using Taker = std::function<bool(Candidate)>;

/// Lenient mode: what the last <answer>...</answer> holds, whole or within it; boxes, "final answer
/// is", "answer:", math environments, plain numbers and arithmetic, choices; by rank, and within a
/// rank from the last to the first, in the last 256 KiB. Linear where the first candidates are
/// taken.
void from_prose(std::string_view text, const VerifierOptions& options, const Taker& take);

/// Lenient mode: the candidates of a gold. One without math environment, box or choices is taken
/// whole, so that 3x is not 3.
void from_lenient_gold(std::string_view gold, const VerifierOptions& options, const Taker& take);

/// A gold as datasets give it: what follows the last "####", the content of its box, or what dollar
/// signs enclose as a whole; else the text itself.
std::string from_gold(std::string_view gold, const VerifierOptions& options);

}  // namespace lie::extract
