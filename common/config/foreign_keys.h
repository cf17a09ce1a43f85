// Hints for keys of other frameworks, from the table of
// docs/reference/keys-of-other-frameworks.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lie {

/// The text of that page.
extern const std::string_view kForeignKeysPage;

/// Returns "; TRL's beta is policy_loss.kl_coefficient here;" for policy_loss.beta, or an empty
/// text. A key matches a framework's if it is that key, with or without outer sections, or if both
/// end in the same name and the key here is in the section of `key`. Keys here that the command
/// does not have are never named; it has `known`.
std::string foreign_key_hint(std::string_view key, std::span<const std::string> known);

}  // namespace lie
