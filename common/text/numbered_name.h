// Names of files that hold a number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace lie {

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
