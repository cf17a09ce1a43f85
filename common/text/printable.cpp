#include "common/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text/scan.h"
#include "common/text/wide_character.h"

namespace lie {
namespace {

bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

/// Returns whether the character is a control or changes the text direction (Unicode standard
/// annex 9).
bool is_wide_control(std::uint32_t code) {
  return (code >= 0x80 && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// Returns whether an option or variable of this name may hold a secret: "--api-key", "HF_TOKEN".
bool names_secret(std::string_view name) {
  const std::string lower = lowered(name);
  constexpr std::array<std::string_view, 6> kEnds = {"key",      "token",      "secret",
                                                     "password", "credential", "passphrase"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return lower.ends_with(end); });
}

/// Returns whether the value of such a name is a short number, as in --reward-per-token=0.25.
bool is_plain_number(std::string_view value) {
  constexpr std::size_t kLongest = 6;
  return !value.empty() && value.size() <= kLongest &&
         value.find_first_not_of("0123456789.-") == std::string_view::npos;
}

bool looks_secret(std::string_view word) {
  return word.starts_with("sk-") || word.starts_with("hf_") || word.starts_with("ghp_");
}

/// Returns a URL with its password masked: "http://user:***@host/". Other words stay.
std::string masked_url(std::string_view word) {
  const std::size_t scheme = word.find("://");
  if (scheme == std::string_view::npos) return std::string(word);
  const std::size_t begin = scheme + 3, end = word.find('/', begin);
  const std::size_t at = word.substr(0, end).rfind('@');
  const std::size_t colon = word.find(':', begin);
  if (at == std::string_view::npos || at < begin || colon >= at) return std::string(word);
  return fmt::format("{}{}{}", word.substr(0, colon + 1), kSecretMask, word.substr(at));
}

std::string masked_word(std::string_view word, bool is_value_of_secret) {
  if ((is_value_of_secret && !is_plain_number(word)) || looks_secret(word)) {
    return std::string(kSecretMask);
  }
  if (const std::string url = masked_url(word); url != word) return url;
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return std::string(word);
  const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
  const bool is_secret = (names_secret(name) && !is_plain_number(value)) || looks_secret(value);
  return fmt::format("{}={}", name, is_secret ? kSecretMask : value);
}

}  // namespace

std::string without_secrets(std::string_view command) {
  std::string shown;
  bool is_value = false;  // of the option before it
  while (!command.empty()) {
    const std::size_t end = std::min(command.find(' '), command.size());
    const std::string_view word = command.substr(0, end);
    shown += word.empty() ? "" : masked_word(word, is_value);
    if (!word.empty()) is_value = word.starts_with('-') && names_secret(word);
    if (end < command.size()) shown += ' ';
    command.remove_prefix(std::min(end + 1, command.size()));
  }
  return shown;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (is_control(c)) {
      shown += fmt::format("\\x{:02x}", c);
    } else if (const WideCharacter wide = wide_character(text.substr(i));
               is_wide_control(wide.code)) {
      shown += fmt::format("\\u{:04x}", wide.code);
      i += wide.bytes - 1;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace lie
