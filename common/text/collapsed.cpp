#include "common/text/collapsed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/text/scan.h"

namespace lie {
namespace {

/// Characters from `first` to `last` in UTF-8, which have the same number of bytes.
struct Range {
  std::string_view first, last;
};

/// Format characters (Unicode category Cf) and the selectors of variants.
constexpr std::array<Range, 9> kInvisible = {{{"\u00ad", "\u00ad"},
                                              {"\u061c", "\u061c"},
                                              {"\u180e", "\u180e"},
                                              {"\u200b", "\u200f"},
                                              {"\u202a", "\u202e"},
                                              {"\u2060", "\u206f"},
                                              {"\ufe00", "\ufe0f"},
                                              {"\ufeff", "\ufeff"},
                                              {"\ufff9", "\ufffb"}}};

constexpr std::array<Range, 7> kSpaces = {{{"\u00a0", "\u00a0"},
                                           {"\u1680", "\u1680"},
                                           {"\u2000", "\u200a"},
                                           {"\u2028", "\u2029"},
                                           {"\u202f", "\u202f"},
                                           {"\u205f", "\u205f"},
                                           {"\u3000", "\u3000"}}};

/// Returns the length of the character at the front of a text if it is in one of the ranges, else
/// 0. UTF-8 keeps the order of characters.
template <std::size_t n>
std::size_t length_in(std::string_view text, const std::array<Range, n>& ranges) {
  const auto* range = std::ranges::find_if(ranges, [text](const Range& each) {
    const std::string_view character = text.substr(0, each.first.size());
    return each.first <= character && character <= each.last;
  });
  return range == ranges.end() ? 0 : range->first.size();
}

/// Removes white space from the front of a text. Returns false if there is none.
bool take_space(std::string_view& text) {
  const bool is_ascii = static_cast<unsigned char>(text.front()) < 0x80;
  const std::size_t length = is_ascii ? (is_space(text.front()) ? 1 : 0) : length_in(text, kSpaces);
  text.remove_prefix(length);
  return length > 0;
}

}  // namespace

std::string collapsed(std::string_view text) {
  std::string out;
  bool is_spaced = false;
  while (!text.empty()) {
    const bool is_ascii = static_cast<unsigned char>(text.front()) < 0x80;
    if (take_space(text)) {
      is_spaced = true;
    } else if (const std::size_t length = is_ascii ? 0 : length_in(text, kInvisible); length > 0) {
      text.remove_prefix(length);
    } else {
      if (std::exchange(is_spaced, false) && !out.empty()) out += ' ';
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace lie
