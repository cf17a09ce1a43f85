// Numbers and arithmetic in plain text, and choice letters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// A number or an arithmetic expression such as "1,000.5", "12 000", "3,5" (a decimal comma),
/// "2/3", "(1/2)*3".
struct PlainNumber {
  std::size_t begin = 0;
  std::size_t end = 0;            // behind a percent sign or word
  std::size_t digits_end = 0;     // before it
  std::size_t decimal_comma = 0;  // its position; 0: none
  char separator = 0;             // of thousands; 0: none
};

/// In the parser's form: no thousands separators, point for comma, \% for percent.
std::string spelling(const PlainNumber& number, std::string_view text);

/// All of them in order, where a space, "=", "**", a currency sign, an ideograph or the start
/// stands before. Linear in the text.
std::vector<PlainNumber> plain_numbers(std::string_view text);

/// A choice string as a separate word.
struct Choice {
  std::size_t begin = 0, end = 0;
};
std::vector<Choice> find_choices(std::string_view text, std::span<const std::string> choices);

}  // namespace lie::extract
