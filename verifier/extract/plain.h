// Finds numbers, arithmetic and choice letters in plain text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// The position of a number or an arithmetic expression such as "1,000.5", "12 000", "3,5" (a
/// decimal comma), "2/3" or "(1/2)*3".
struct PlainNumber {
  std::size_t begin = 0;
  std::size_t end = 0;            // position after a percent sign or word
  std::size_t digits_end = 0;     // position before it
  std::size_t decimal_comma = 0;  // position of a decimal comma; 0: none
  char separator = 0;             // separator of thousands; 0: none
};

/// Returns the number as the parser reads it: without thousands separators, with a decimal point,
/// and with \% for percent.
std::string spelling(const PlainNumber& number, std::string_view text);

/// Returns all numbers in order that follow a space, "=", "**", a currency sign, an ideograph or
/// the start of the text. Linear in the text.
std::vector<PlainNumber> plain_numbers(std::string_view text);

/// The position of a choice that is a separate word.
struct Choice {
  std::size_t begin = 0, end = 0;
};
std::vector<Choice> find_choices(std::string_view text, std::span<const std::string> choices);

}  // namespace lie::extract
