// The last balanced \boxed{...} of a text, found by one scan from the end.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace lie::extract {

/// One box: its content, and the position of the whole command.
struct Box {
  std::string_view content;
  std::size_t begin = 0;  // of "\boxed"
  std::size_t end = 0;    // behind the closing brace
};

/// What follows the last </think>; all of it where there is none.
std::string_view after_think(std::string_view text);

/// The last outermost balanced \boxed (or \fbox) of a text, with the boxes before it that belong to
/// it, in order: those with nothing between but spaces, commas, semicolons, dollar signs, math
/// delimiters, \quad and the words "and" and "or", at most 256 bytes and 1,024 boxes. Empty where
/// there is none. Scans from the end, and no further than it must.
std::vector<Box> last_boxes(std::string_view text, bool fbox, bool join);

/// All outermost balanced boxes in order.
std::vector<Box> all_boxes(std::string_view text, bool fbox);

}  // namespace lie::extract
