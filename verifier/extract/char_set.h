// Sets of bytes that a scan asks for at every position; std::string_view's find_first_of() would
// search its list again at each.
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

  /// The position of the first member from `from` on; text.size() if there is none.
  constexpr std::size_t first_in(std::string_view text, std::size_t from) const {
    while (from < text.size() && !holds(text[from])) ++from;
    return from;
  }
  /// The same of the first other byte.
  constexpr std::size_t first_not_in(std::string_view text, std::size_t from) const {
    while (from < text.size() && holds(text[from])) ++from;
    return from;
  }

 private:
  std::array<bool, 256> holds_ = {};
};

}  // namespace lie::extract
