#include "tools/analyze/report/html.h"

#include <fmt/format.h>

#include "common/io/json_lines.h"
#include "model/tokenizer/utf8.h"

namespace lie::analyze {
namespace {

constexpr int kColours = 8, kDashes = 4;

/// Returns whether `c` is an invisible control character or a mark of text direction (Unicode
/// standard annex 9).
bool is_invisible(std::uint32_t c) {
  const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
  const bool direction = c == 0x061c || c == 0x200e || c == 0x200f ||
                         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || direction;
}

std::string_view entity(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return "";
  }
}

}  // namespace

std::string visible(std::string_view text) {
  const std::string valid = repair_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < valid.size();) {
    const std::size_t length = utf8_length(valid[i]);
    const std::uint32_t c = utf8_decode(valid, i);
    out += is_invisible(c) ? fmt::format("⟨U+{:04X}⟩", c) : valid.substr(i, length);
    i += length;
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    const std::string_view safe = entity(c);
    safe.empty() ? out += c : out += safe;
  }
  return out;
}

std::string script_string(std::string_view text) {
  std::string out;
  for (const char c : json_quoted(text)) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

std::string colour_class(int colour) {
  const int dash = colour / kColours % kDashes;
  const std::string own = fmt::format("c{}", colour % kColours + 1);
  return dash == 0 ? own : fmt::format("{} d{}", own, dash + 1);
}

}  // namespace lie::analyze
