// Texts as they are compared.
#pragma once

#include <string>
#include <string_view>

namespace lie::latex {

/// Lower case, without spaces, brackets, dollar signs, quotes, commands and final points: how text
/// is compared.
std::string normal_text(std::string_view text);

/// normal_text() with its capitals, which tell units apart: how the name of a unit is kept.
std::string unit_text(std::string_view text);

/// The text without white space, dollar signs, \left, \right and thin spaces: how text that is no
/// mathematics is compared.
std::string without_spacing(std::string_view text);

/// A name as symbols carry it: without backslashes, braces and spaces.
std::string normal_name(std::string_view text);

/// Digits as wide as Chinese characters, points and slashes, as others: "１２" is 12.
std::string narrowed(std::string_view text);

}  // namespace lie::latex
