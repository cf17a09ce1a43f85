#include "model/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <vector>

#include "common/base/error.h"

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

namespace {

struct Run {
  std::uint32_t first;
  std::uint8_t flags;
};

constexpr Run kRuns[] = {
#include "model/tokenizer/unicode_ranges.inc"
};

constexpr std::uint32_t kCodePoints = 0x110000;

}  // namespace

UnicodeTable::UnicodeTable() : flags_(kCodePoints) {
  for (const Run& run : kRuns) {
    const bool is_last = &run == std::end(kRuns) - 1;
    const std::uint32_t end = is_last ? kCodePoints : (&run + 1)->first;
    std::fill(flags_.begin() + run.first, flags_.begin() + end, run.flags);
  }
}

namespace {

utf8proc_propval_t combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

/// Returns the position of the next code point that NFC may change, or the text's size.
std::size_t next_active(std::string_view text, std::size_t position, const UnicodeTable& table) {
  while (position < text.size()) {
    const auto lead = static_cast<unsigned char>(text[position]);
    // Every code point below U+0300 (lead byte 0xcc) is in NFC.
    if (lead >= 0xcc && table.has(utf8_decode(text, position), kNfcActive)) return position;
    position += utf8_length(text[position]);
  }
  return text.size();
}

std::size_t end_of_active(std::string_view text, std::size_t position, const UnicodeTable& table) {
  while (position < text.size() && table.has(utf8_decode(text, position), kNfcActive)) {
    position += utf8_length(text[position]);
  }
  return position;
}

/// Returns the start of the substring to normalize. It includes the previous code point, which may
/// combine with the next. It excludes a mark that the library's older tables classify as an
/// ordinary character, since utf8proc would move it.
std::size_t start_of_change(std::string_view text, std::size_t active, std::size_t earliest) {
  if (active == earliest) return active;
  const std::size_t before = utf8_previous(text, active);
  const auto code_point = static_cast<utf8proc_int32_t>(utf8_decode(text, before));
  return combining_class(code_point) != 0 ? active : before;
}

/// Returns the canonical decomposition, with marks not yet in canonical order.
std::vector<utf8proc_int32_t> decompose(std::string_view text) {
  constexpr utf8proc_ssize_t kLongest = 4;  // of a canonical decomposition
  std::vector<utf8proc_int32_t> points;
  for (std::size_t i = 0; i < text.size(); i += utf8_length(text[i])) {
    std::array<utf8proc_int32_t, kLongest> parts = {};
    const auto code_point = static_cast<utf8proc_int32_t>(utf8_decode(text, i));
    const auto count =
        utf8proc_decompose_char(code_point, parts.data(), kLongest, UTF8PROC_DECOMPOSE, nullptr);
    if (count < 0) fail("normalizing U+{:04X} to NFC: {}", code_point, utf8proc_errmsg(count));
    points.insert(points.end(), parts.begin(), parts.begin() + count);
  }
  return points;
}

/// Sorts each run of marks by combining class, which is the canonical order. utf8proc's own sort
/// takes quadratic time in the length of the run.
void sort_marks(std::vector<utf8proc_int32_t>& points) {
  const auto is_mark = [](utf8proc_int32_t point) { return combining_class(point) != 0; };
  for (auto begin = points.begin(); begin != points.end();) {
    begin = std::find_if(begin, points.end(), is_mark);
    const auto end = std::find_if_not(begin, points.end(), is_mark);
    std::stable_sort(begin, end, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
    begin = end;
  }
}

void append_nfc(std::string_view range, std::string& out) {
  std::vector<utf8proc_int32_t> points = decompose(range);
  sort_marks(points);
  const auto count =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (count < 0) fail("normalizing text to NFC: {}", utf8proc_errmsg(count));
  points.resize(static_cast<std::size_t>(count));
  for (const utf8proc_int32_t point : points) {
    std::array<utf8proc_uint8_t, 4> bytes = {};
    const auto length = utf8proc_encode_char(point, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
  }
}

}  // namespace

bool is_nfc(std::string_view text, const UnicodeTable& table) {
  return next_active(text, 0, table) == text.size();
}

std::string to_nfc(std::string_view text, const UnicodeTable& table) {
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  while (done < text.size()) {
    const std::size_t active = next_active(text, done, table);
    if (active == text.size()) break;
    const std::size_t begin = start_of_change(text, active, done);
    const std::size_t end = end_of_active(text, active, table);
    out += text.substr(done, begin - done);
    append_nfc(text.substr(begin, end - begin), out);
    done = end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace lie
