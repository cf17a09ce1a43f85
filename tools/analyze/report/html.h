// Text of a run made safe for a page.
#pragma once

#include <string>
#include <string_view>

namespace lie::analyze {

/// For HTML and for attribute values. Broken UTF-8 becomes U+FFFD; control characters and the marks
/// that turn the direction of what follows become visible: "⟨U+202E⟩".
std::string escaped(std::string_view text);

/// A JSON string for a <script> element, which nothing in it can end.
std::string script_string(std::string_view text);

/// CSS classes of a line or point: "c3" of colour 2; after eight colours "c1 d2", another dash.
std::string colour_class(int colour);

}  // namespace lie::analyze
