// An option of a multiple-choice question: its letter, and its value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lie::extract {

struct Option {
  char letter = 0;    // A to J
  std::string value;  // empty where the letter stands alone
};

/// Reads "C", "(C)", "\textbf{(C)}\ 12" and "C. 12". Returns nothing where the text is no option,
/// or names a second letter.
std::optional<Option> read_option(std::string_view text);

}  // namespace lie::extract
