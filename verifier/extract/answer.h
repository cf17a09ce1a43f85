// Finds the places of a text where the answer may be, in the order in which they are tried.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "verifier/rules/options.h"

namespace lie::extract {

/// One place where an answer may be.
struct Candidate {
  std::string text;     // LaTeX or plain mathematics
  bool choice = false;  // one of options.choices, to be compared as a string
};

/// Returns the answer of reward mode: the last balanced box, joined with the boxes that belong to
/// it, or nothing. Linear in the text.
std::optional<std::string> from_boxes(std::string_view response, const VerifierOptions& options);

/// Receives one candidate after another, best first, until it returns true. The text of a candidate
/// is made when it is tried, so that unused candidates cost little.
using Taker = std::function<bool(Candidate)>;

/// Passes on the candidates of lenient mode. They are the content of the last <answer>...</answer>,
/// boxes, what follows "final answer is" or "answer:", math environments, plain numbers and
/// arithmetic, and choices. They come by rank, and within a rank from the last to the first. Only
/// the last 256 KiB of the text are searched. Linear if the first candidates are accepted.
void from_prose(std::string_view text, const VerifierOptions& options, const Taker& take);

/// Passes on the candidates of a gold in lenient mode. A gold without math environment, box or
/// choices is one candidate, so that 3x is not 3.
void from_lenient_gold(std::string_view gold, const VerifierOptions& options, const Taker& take);

/// Returns whether a response is the text of a gold, or ends with it after "answer is" or
/// "answer:".
bool ends_with_gold(std::string_view response, std::string_view gold);

/// Returns the answer in a gold as data sets give it: the text after the last "####", the content
/// of its box, or the content of the dollar signs around it. Otherwise it is the text itself.
std::string from_gold(std::string_view gold, const VerifierOptions& options);

/// An option of a multiple-choice question.
struct Option {
  char letter = 0;    // A to J
  std::string value;  // empty if the letter stands alone
};

/// Reads "C", "(C)", "\textbf{(C)}\ 12" and "C. 12". Returns nothing if the text is no option,
/// or names a second letter.
std::optional<Option> read_option(std::string_view text);

}  // namespace lie::extract
