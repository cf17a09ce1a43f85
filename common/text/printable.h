// Makes text from data and from untrusted files safe to display.
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// Returns the text with control characters written as \x1b, so that no text can move a terminal's
/// cursor, recolor it or set its title. Characters that change the text direction are written as
/// \u202e. Line ends and tabs stay. Bytes 0x80 to 0x9f count only as the second byte of U+0080 to
/// U+009F, which are written as \u0080 and so on.
std::string printable(std::string_view text);

/// What without_secrets() puts in place of a secret.
inline constexpr std::string_view kSecretMask = "***";

/// Returns a command line with kSecretMask in place of what looks like a secret: the value of an
/// option or variable whose name ends with key, token, secret, password or credential (--api-key
/// VALUE, TOKEN=VALUE), except numbers of at most six characters, and words with a known beginning
/// (sk-, hf_, ghp_).
std::string without_secrets(std::string_view command);

}  // namespace lie
