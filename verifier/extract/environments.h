// Math environments of a text: $...$, $$...$$, \(...\), \[...\], a bare \frac{1}{2}, and " [...] ".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// One environment.
struct Environment {
  std::string_view inside;    // between its delimiters; never blank
  std::size_t begin = 0;      // of the opening delimiter
  std::size_t end = 0;        // behind the closing one, and behind a percent sign or word
  bool percent = false;       // such a sign or word follows
  bool joins_before = false;  // with the one before: a comma, "and" or "or" makes them one list
};

/// In order. $...$, \(...\) and " [...] " stay within a line. Linear in the text.
std::vector<Environment> math_environments(std::string_view text);

/// The content of environments that join: that of their boxes where there are any; "\%" for a
/// percent sign; commas between.
std::string content_of(std::span<const Environment> joined);

/// The length of "%", "\%", "percent", "percentage" or "pct" (and white space before) at the front
/// of a text, or 0.
std::size_t percent_length(std::string_view text);

}  // namespace lie::extract
