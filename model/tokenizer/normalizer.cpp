#include "model/tokenizer/normalizer.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "common/error.h"
#include "model/tokenizer/utf8.h"

namespace lie {
namespace {

/// Position of the next code point that NFC may touch, or the text's size.
std::size_t next_active(std::string_view text, std::size_t position, const UnicodeTable& table) {
  while (position < text.size()) {
    const auto lead = static_cast<unsigned char>(text[position]);
    // All below U+0300 (lead byte 0xcc) is as NFC wants it.
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

/// Begin of the stretch to normalize: the code point before may join what follows it. A mark that
/// the library's older tables take for an ordinary character is left out, for utf8proc would move
/// it.
std::size_t begin_of_stretch(std::string_view text, std::size_t active, std::size_t earliest) {
  if (active == earliest) return active;
  const std::size_t before = utf8_previous(text, active);
  const auto code_point = static_cast<utf8proc_int32_t>(utf8_decode(text, before));
  return utf8proc_get_property(code_point)->combining_class != 0 ? active : before;
}

void append_nfc(std::string_view stretch, std::string& out) {
  utf8proc_uint8_t* composed = nullptr;
  const auto bytes =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(stretch.data()),
                   static_cast<utf8proc_ssize_t>(stretch.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  if (bytes < 0) fail("normalizing text to NFC: {}", utf8proc_errmsg(bytes));
  out.append(reinterpret_cast<const char*>(composed), static_cast<std::size_t>(bytes));
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
    const std::size_t begin = begin_of_stretch(text, active, done);
    const std::size_t end = end_of_active(text, active, table);
    out += text.substr(done, begin - done);
    append_nfc(text.substr(begin, end - begin), out);
    done = end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace lie
