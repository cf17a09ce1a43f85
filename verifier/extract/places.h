// Finds places of a text where an answer may be: boxes (boxed.cpp), math environments
// (environments.cpp), and plain numbers, arithmetic and choice letters (plain.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// A set of bytes with a lookup table. A scan tests every position, and
/// std::string_view::find_first_of() would search its list each time.
class CharSet {
 public:
  constexpr explicit CharSet(std::string_view members) {
    for (const char c : members) holds_[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool holds(char c) const { return holds_[static_cast<unsigned char>(c)]; }

  /// Returns the position of the first member from `from` on, or text.size().
  constexpr std::size_t first_in(std::string_view text, std::size_t from) const {
    while (from < text.size() && !holds(text[from])) ++from;
    return from;
  }
  /// Returns the position of the first byte that is no member, or text.size().
  constexpr std::size_t first_not_in(std::string_view text, std::size_t from) const {
    while (from < text.size() && holds(text[from])) ++from;
    return from;
  }

 private:
  std::array<bool, 256> holds_ = {};
};

/// A box: its content, and the position of the whole command.
struct Box {
  std::string_view content;
  std::size_t begin = 0;  // position of "\boxed"
  std::size_t end = 0;    // position after the closing brace
};

/// Returns the text after the last </think>, or all of it if there is none.
std::string_view after_think(std::string_view text);

/// Returns the last outermost balanced \boxed (or \fbox) of a text, after the boxes that belong to
/// it, in order. Boxes belong together if only spaces, commas, semicolons, dollar signs, math
/// delimiters, \quad and the words "and" and "or" separate them, at most 256 bytes and 1,024 boxes.
/// Returns nothing if there is no box. Scans from the end, no further than necessary.
std::vector<Box> last_boxes(std::string_view text, bool fbox, bool join);

/// Returns the contents of boxes, separated by commas. Equal neighbors count once.
std::string joined(const std::vector<Box>& boxes);

/// Returns the last 1,024 outermost balanced boxes in order.
std::vector<Box> all_boxes(std::string_view text, bool fbox);

/// An environment and its position: $...$, $$...$$, \(...\), \[...\], a bare \frac{1}{2}, " [...]
/// ".
struct Environment {
  std::string_view inside;    // text between its delimiters, never blank
  std::size_t begin = 0;      // position of the opening delimiter
  std::size_t end = 0;        // position after the closing one and a percent sign or word
  bool percent = false;       // a percent sign or word follows
  bool joins_before = false;  // a comma, "and" or "or" joins it to the one before
};

/// Returns the environments in order. $...$, \(...\) and " [...] " end on their line. Linear in the
/// text.
std::vector<Environment> math_environments(std::string_view text);

/// Returns the content of joined environments, separated by commas. It is the content of their
/// boxes if there are any, with "\%" for a percent sign.
std::string content_of(std::span<const Environment> joined);

/// Returns the length of "%", "\%", "percent", "percentage" or "pct" at the front of a text, with
/// the white space before it, or 0.
std::size_t percent_length(std::string_view text);

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
