#include "common/text/collapsed.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/text/scan.h"
#include "common/text/wide_character.h"

namespace lie {
namespace {

/// Returns whether a character outside ASCII is white space.
bool is_wide_space(std::uint32_t code) {
  constexpr CharacterRange kRanges[] = {{0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                                        {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f},
                                        {0x3000, 0x3000}};
  return std::ranges::any_of(kRanges, [code](CharacterRange range) { return range.holds(code); });
}

}  // namespace

std::string collapsed(std::string_view text) {
  std::string out;
  bool is_spaced = false;
  while (!text.empty()) {
    const WideCharacter wide = wide_character(text);
    if (is_space(text.front()) || is_wide_space(wide.code)) {
      is_spaced = true;
    } else if (!is_invisible(wide.code)) {
      if (std::exchange(is_spaced, false) && !out.empty()) out += ' ';
      out += text.substr(0, wide.bytes);
    }
    text.remove_prefix(wide.bytes);
  }
  return out;
}

}  // namespace lie
