// Escapes texts of a run for a page or a terminal.
#pragma once

#include <string>
#include <string_view>

namespace lie::analyze {

/// Makes text safe to print. Invalid UTF-8 becomes U+FFFD. Control characters other than newline
/// and tab, and marks that change the text direction, become visible: "⟨U+202E⟩".
std::string visible(std::string_view text);

/// Escapes visible(text) for HTML and attribute values.
std::string escaped(std::string_view text);

/// Returns a JSON string for a <script> element. The text cannot end the element.
std::string script_string(std::string_view text);

/// Returns the CSS classes of a line or point: "c3" for color 2; after eight colors "c1 d2", with
/// another dash pattern.
std::string colour_class(int colour);

}  // namespace lie::analyze
