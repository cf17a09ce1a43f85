// Finds the last balanced \boxed{...} of a text by one scan from the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lie::extract {

/// A box: its content, and the position of the whole command.
struct Box {
  std::string_view content;
  std::size_t begin = 0;  // position of "\boxed"
  std::size_t end = 0;    // position after the closing brace
};

/// Returns the text after the last </think>, or all of it where there is none.
std::string_view after_think(std::string_view text);

/// Returns the last outermost balanced \boxed (or \fbox) of a text, after the boxes that belong to
/// it, in order. Boxes belong together where only spaces, commas, semicolons, dollar signs, math
/// delimiters, \quad and the words "and" and "or" separate them, at most 256 bytes and 1,024 boxes.
/// Returns nothing where there is no box. Scans from the end, no further than necessary.
std::vector<Box> last_boxes(std::string_view text, bool fbox, bool join);

/// Returns the contents of boxes, separated by commas. Equal neighbors count once.
std::string joined(const std::vector<Box>& boxes);

/// Returns the last 1,024 outermost balanced boxes in order.
std::vector<Box> all_boxes(std::string_view text, bool fbox);

}  // namespace lie::extract
