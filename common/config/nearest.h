// Suggestions for misspelled names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lie {

/// Returns the number of single-character insertions, deletions, substitutions and exchanges of
/// neighbors that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the name in `known` with the smallest edit distance to `name`, the first one on ties.
/// Empty if `known` is empty.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// Returns "; did you mean seed?" if the edit distance to a known name is at most a third of the
/// longer name's length. Empty otherwise.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace lie
