// Suggestions for misspelt names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lie {

/// Number of single-character insertions, removals and changes that make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name in `known` with the least edit distance to `name`, the first of equals; empty if none.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// "; did you mean seed?" where a known name is near: no more than a third of the longer of the two
/// differs. Empty otherwise.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace lie
