// Helpers for scanning small texts. The character classes are ASCII only and do not depend on the
// locale, unlike those of <cctype>. Bytes of non-ASCII characters belong to no class.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lie {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; }

inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

/// Returns the text without leading and trailing white space.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes `prefix` from the start of `text`. Returns false if the text does not start with it.
constexpr bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Returns 50 for "step-000050" with the prefix "step-"; empty for a name of another form.
inline std::optional<std::int64_t> number_in_name(std::string_view name, std::string_view prefix,
                                                  std::string_view suffix = "") {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() < prefix.size() + suffix.size()) return std::nullopt;
  const char* const last = name.data() + name.size() - suffix.size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace lie
