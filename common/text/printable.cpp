#include "common/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace lie {
namespace {

bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

/// Returns whether the bytes at `i` are the UTF-8 of U+0080 to U+009F.
bool is_wide_control(std::string_view text, std::size_t i) {
  if (i + 1 >= text.size()) return false;
  const auto second = static_cast<unsigned char>(text[i + 1]);
  return text[i] == '\xc2' && second >= 0x80 && second < 0xa0;
}

struct Mark {
  std::string_view bytes, code;
};

/// Marks that change the text direction (Unicode standard annex 9).
constexpr std::array<Mark, 12> kDirectionMarks = {{{"\u061c", "\\u061c"},
                                                   {"\u200e", "\\u200e"},
                                                   {"\u200f", "\\u200f"},
                                                   {"\u202a", "\\u202a"},
                                                   {"\u202b", "\\u202b"},
                                                   {"\u202c", "\\u202c"},
                                                   {"\u202d", "\\u202d"},
                                                   {"\u202e", "\\u202e"},
                                                   {"\u2066", "\\u2066"},
                                                   {"\u2067", "\\u2067"},
                                                   {"\u2068", "\\u2068"},
                                                   {"\u2069", "\\u2069"}}};

/// Returns the mark that the text begins with, or null.
const Mark* direction_mark(std::string_view text) {
  const auto found = std::ranges::find_if(
      kDirectionMarks, [&](const Mark& mark) { return text.starts_with(mark.bytes); });
  return found == kDirectionMarks.end() ? nullptr : found;
}

constexpr std::string_view kMask = "***";

/// Returns whether an option or variable of this name holds a secret: "--api-key", "HF_TOKEN".
bool names_secret(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 6> kEnds = {"key",      "token",      "secret",
                                                     "password", "credential", "passphrase"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return lower.ends_with(end); });
}

bool looks_secret(std::string_view word) {
  return word.starts_with("sk-") || word.starts_with("hf_") || word.starts_with("ghp_");
}

std::string masked_word(std::string_view word, bool is_value_of_secret) {
  if (is_value_of_secret || looks_secret(word)) return std::string(kMask);
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return std::string(word);
  const bool is_secret =
      names_secret(word.substr(0, equals)) || looks_secret(word.substr(equals + 1));
  return std::string(word.substr(0, equals + 1)) +
         std::string(is_secret ? kMask : word.substr(equals + 1));
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
    } else if (is_wide_control(text, i)) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++i]));
    } else if (const Mark* mark = direction_mark(text.substr(i))) {
      shown += mark->code;
      i += mark->bytes.size() - 1;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace lie
