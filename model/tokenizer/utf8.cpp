#include "model/tokenizer/utf8.h"

#include <cstring>

namespace lie {
namespace {

/// The start of a text: a code point, or an invalid subpart.
struct Scanned {
  std::size_t bytes = 0;
  bool is_valid = false;
};

/// Scans the start of a text. The range of the second byte depends on the first (table 3-7 of the
/// Unicode standard).
Scanned scan(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const std::size_t length = utf8_length(text[0]);
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {length, true};
}

/// Returns the number of ASCII bytes at the start. It tests eight bytes at a time.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + 8 <= text.size(); i += 8) {
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  for (text.remove_prefix(ascii_prefix(text)); !text.empty();) {
    const Scanned scanned = scan(text);
    if (!scanned.is_valid) return false;
    text.remove_prefix(scanned.bytes);
    if (!text.empty() && static_cast<unsigned char>(text[0]) < 0x80) {
      text.remove_prefix(ascii_prefix(text));
    }
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Scanned scanned = scan(text);
    out += scanned.is_valid ? text.substr(0, scanned.bytes) : "\xef\xbf\xbd";
    text.remove_prefix(scanned.bytes);
  }
  return out;
}

}  // namespace lie
