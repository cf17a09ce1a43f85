// Letters of choices in answers and responses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/rollout/rollout.h"

namespace lie::evaluation {

/// The letter A to J that stands for a choice in an answer such as "B", "(b)", "\text{B}", "B. 42",
/// "\textbf{(B)}\ 42".
std::optional<char> choice_letter(std::string_view answer);

/// Whether a right answer is the letter of a choice.
bool is_choice(std::string_view gold);

/// How many right answers are one digit in data sources where others are letters of choices: a
/// letter is never right there.
std::int64_t count_digit_keys(std::span<const Prompt> prompts);

/// The choice that a response without a letter in its box names: by the published cascade of
/// patterns ("answer: B", "answer is B", "option B is correct", "choose B", a line "B) ..."; the
/// first that occurs, and of it the last place). Other than the release (eval_scripts/
/// generate_vllm.py): up to J and not E, and a letter stands alone, a small one in brackets: "the
/// answer is a prime" names no choice.
std::optional<char> choice_by_pattern(std::string_view response);

}  // namespace lie::evaluation
