// Statements that a whole number is even or odd.
#pragma once

#include <optional>
#include <string_view>

namespace lie::latex {

/// The statement that the number of a name is odd, or else even.
struct Parity {
  char name = 0;
  bool odd = false;
};

/// Reads "niseven", "neven" and "evenn", also after "if", "for" or "when", in a text without
/// spaces. Returns nothing for any other text.
std::optional<Parity> read_parity(std::string_view text);

}  // namespace lie::latex
