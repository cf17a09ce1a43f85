// Brings characters to one spelling before a text is read.
#pragma once

#include <string>
#include <string_view>

namespace lie::latex {

/// Returns whether a text has characters beyond ASCII, so that with_plain_characters() may change
/// it.
bool has_other_characters(std::string_view text);

/// Returns the text without invisible format characters, with composed letters (\u00e9), and with
/// ASCII for the digits of other scripts, full-width characters, mathematical alphabets, units and
/// Roman numerals of one character, as the normalization form KC does. Exponents, subscripts,
/// fractions and circled digits stay. The accents of LaTeX become letters as well.
std::string with_plain_characters(std::string_view text);

}  // namespace lie::latex
