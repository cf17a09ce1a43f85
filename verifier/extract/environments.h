// Math environments of a text: $...$, $$...$$, \(...\), \[...\], a bare \frac{1}{2}, and " [...] ".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// One environment, or several joined by commas, "and" or "or" into one list.
struct Environment {
  std::string content;    // that of the boxes, where any stand in it; never blank
  std::size_t begin = 0;  // of the opening delimiter
  std::size_t end = 0;    // behind the closing one, and behind a percent sign or word that follows
};

/// In order. $...$, \(...\) and " [...] " stay within a line. Linear in the text.
std::vector<Environment> math_environments(std::string_view text);

/// The length of "%", "\%", "percent", "percentage" or "pct" (and white space before) at the front
/// of a text, or 0.
std::size_t percent_length(std::string_view text);

}  // namespace lie::extract
