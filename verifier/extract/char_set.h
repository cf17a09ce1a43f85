// A set of bytes with a lookup table. A scan tests every position, and
// std::string_view::find_first_of() would search its list each time.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace lie::extract {

class CharSet {
 public:
  constexpr explicit CharSet(std::string_view members) {
    for (const char c : members) holds_[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool holds(char c) const { return holds_[static_cast<unsigned char>(c)]; }

  /// Returns the position of the first member from `from` on, or text.size().
  constexpr std::size_t first_in(std::string_view text, std::size_t from) const {
    while (from < text.size() && !holds(text[from])) ++from;
    return from;
  }
  /// Returns the position of the first byte that is no member, or text.size().
  constexpr std::size_t first_not_in(std::string_view text, std::size_t from) const {
    while (from < text.size() && holds(text[from])) ++from;
    return from;
  }

 private:
  std::array<bool, 256> holds_ = {};
};

}  // namespace lie::extract
