// Suggestions for misspelled names, and hints for keys of other frameworks from the table of
// docs/reference/keys-of-other-frameworks.md.
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

/// The text of keys-of-other-frameworks.md.
extern const std::string_view kForeignKeysPage;

/// Returns "; TRL's beta is policy_loss.kl_coefficient here;" for policy_loss.beta, or an empty
/// text. A key matches a framework's if it is that key, with or without outer sections, or if both
/// end in the same name and the key here is in the section of `key`. If several rows of the page
/// have the key, `value` chooses. Suggests only keys in `known`, those of the command.
std::string foreign_key_hint(std::string_view key, std::string_view value,
                             std::span<const std::string> known);

}  // namespace lie
