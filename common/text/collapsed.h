// Brings texts to the form in which they are compared.
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// Returns the text without invisible characters, such as zero-width spaces, with one space for
/// each run of white space, and with none at its ends. White space beyond ASCII, such as a no-break
/// space, counts.
std::string collapsed(std::string_view text);

}  // namespace lie
