// Normal forms in which texts are compared.
#pragma once

#include <string>
#include <string_view>

namespace lie::latex {

/// Returns the text in lower case, without spaces, brackets, dollar signs, quotes, commands and
/// final points. Words are compared in this form.
std::string normal_text(std::string_view text);

/// Returns normal_text(), but with the capitals of a short word that differs from others by them: a
/// formula (CO, NaCl) or a genotype (AaBb).
std::string compared_text(std::string_view text);

/// Returns normal_text(), but with its capitals, which distinguish units.
std::string unit_text(std::string_view text);

/// Returns whether a name is a Greek letter or another command, with or without an index. Omega is
/// another letter than omega.
bool is_greek(std::string_view name);

/// Returns the text without white space, dollar signs, \left, \right and thin spaces. Texts that do
/// not parse are compared in this form.
std::string without_spacing(std::string_view text);

/// Returns the name of a symbol: the text without backslashes, braces and spaces.
std::string normal_name(std::string_view text);

}  // namespace lie::latex
