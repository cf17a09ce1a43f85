// The letters of choices in answers and responses.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie::evaluation {

/// Returns the letter A to J of the choice in an answer such as "B", "(b)", "\text{B}", "B. 42",
/// "\textbf{(B)}\ 42". An answer that joins several, such as "A or B", names none.
std::optional<char> choice_letter(std::string_view answer);

/// Returns whether a gold answer is the letter of a choice.
bool is_choice(std::string_view gold);

/// Counts the gold answers that are one digit in data sources where other golds are choice letters.
/// A response with a letter is never correct for them.
std::int64_t count_digit_keys(std::span<const Prompt> prompts);

/// The published cascade of patterns for responses that have no letter in their box: "answer: B",
/// "answer is B", "option B is correct", "choose B", a line "B) ...".
class ChoicePatterns {
 public:
  ChoicePatterns();
  /// Returns the choice named by the first pattern that occurs, at its last place. It differs from
  /// the release (eval_scripts/generate_vllm.py): choices go up to J instead of E, and a letter
  /// must stand alone, a lower-case one in brackets. "The answer is a prime" thus names no choice.
  std::optional<char> find(const std::string& response) const;

 private:
  std::vector<std::regex> patterns_;
};

}  // namespace lie::evaluation
