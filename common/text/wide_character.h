// Characters outside ASCII.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lie {

/// A character outside ASCII.
struct WideCharacter {
  std::uint32_t code = 0;  // code point; 0: there is none of 2 or 3 bytes
  std::size_t bytes = 1;   // length in UTF-8
};

/// Decodes the character of 2 or 3 bytes that the text begins with.
inline WideCharacter wide_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3f; };
  const auto is_tail = [&](std::size_t i) { return byte(i) >> 6 == 0b10; };
  if (byte(0) >> 5 == 0b110 && is_tail(1)) return {(byte(0) & 0x1f) << 6 | tail(1), 2};
  if (byte(0) >> 4 != 0b1110 || !is_tail(1) || !is_tail(2)) return {};
  return {(byte(0) & 0xf) << 12 | tail(1) << 6 | tail(2), 3};
}

/// Characters from `first` to `last`.
struct CharacterRange {
  std::uint32_t first, last;
  constexpr bool holds(std::uint32_t code) const { return first <= code && code <= last; }
};

/// Returns whether a character is a format character (Unicode category Cf) of at most 3 bytes, or
/// the selector of a variant.
constexpr bool is_invisible(std::uint32_t code) {
  constexpr CharacterRange kRanges[] = {{0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},
                                        {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f},
                                        {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};
  return std::ranges::any_of(kRanges, [code](CharacterRange range) { return range.holds(code); });
}

}  // namespace lie
