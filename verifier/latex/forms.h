// Answers that are written with digits, letters and marks, but are no formulas: dates, times,
// ranges, scores, numbers of telephones, codes and Roman numerals.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lie::latex {

/// The sort of a form. Forms of different sorts are different, except for equal text.
enum class Sort : char {
  kDate = 'd',
  kTime = 't',
  kRange = 'r',  // two numbers with a hyphen or dash: a range, a score
  kCode = 'c',   // groups of digits with hyphens or slashes, words of letters and digits
};

/// A form in its usual spelling.
struct Form {
  Sort sort = Sort::kCode;
  std::string text;  // 2021-06-01, --06-01 without a year, 15:05, 3-1, FF0000, XIV
  /// Arithmetic has a value, as in 10-3-2, which counts where the other side is a number.
  bool arithmetic = false;
};

/// Reads a form. White space, braces, dollar signs and commands of text do not count. Returns
/// nothing for anything that may be mathematics, such as 2x, 5 and 1/2.
std::optional<Form> read_form(std::string_view text);

/// Returns whether a time of day, such as 20:34, may be written as these numbers without its half
/// of the day: 20:34 and 8:34, or 8 for 20:00.
bool is_clock_reading(std::string_view time, int hour, int minute, int second);

/// Returns whether two dates may be the same: 2021-06-01 and 06/01/2021, whose first two parts may
/// be in either order.
bool may_be_same_date(std::string_view a, std::string_view b);

}  // namespace lie::latex
