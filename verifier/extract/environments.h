// Finds the math environments of a text: $...$, $$...$$, \(...\), \[...\], a bare \frac{1}{2}, and
// " [...] ".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// An environment and its position.
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
/// boxes where there are any, with "\%" for a percent sign.
std::string content_of(std::span<const Environment> joined);

/// Returns the length of "%", "\%", "percent", "percentage" or "pct" at the front of a text, with
/// the white space before it, or 0.
std::size_t percent_length(std::string_view text);

}  // namespace lie::extract
