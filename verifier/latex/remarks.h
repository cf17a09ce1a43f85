// Remarks after a value: words that are no known unit, such as "apples", "tall" and "or 7".
#pragma once

#include <optional>
#include <string_view>

#include "verifier/exact/rational.h"

namespace lie::latex {

/// Returns whether two units may measure the same. Known ones are compared by their dimensions.
/// Others are words: 5 apples are 5, but no 5 oranges, and a profit is no loss.
bool words_agree(std::string_view a, std::string_view b);

/// Returns whether two remarks exclude each other, as profit and loss do.
bool are_opposites(std::string_view a, std::string_view b);

/// Returns the size of the unit b in units of a, such as 1/1000 for m and km. Returns nothing if
/// they measure different things, and 1 if one of them is no known unit.
std::optional<exact::Rational> unit_ratio(std::string_view a, std::string_view b);

/// Returns whether the text after a value only names or describes it: "apples", "(approximately)",
/// "to 2 decimal places". Text with digits, operators or words such as "or", "not" and "if" may
/// change, deny or restrict the value. `is_number`: the value has no names in it.
bool only_describes(std::string_view text, bool is_number);

/// Returns whether the text before a value and a colon only names it: "Smallest", "Total cost".
/// Text with digits or words such as "or", "not" and "at least" does not.
bool only_labels(std::string_view text);

}  // namespace lie::latex
