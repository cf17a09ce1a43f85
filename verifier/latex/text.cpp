#include "verifier/latex/text.h"

#include <algorithm>

#include "common/text/scan.h"
#include "verifier/expr/expr.h"

namespace lie::latex {
namespace {

bool is_quotation_mark(std::string_view character) {
  return is_one_of(character, "“", "”", "‘", "’");
}

}  // namespace

std::string normal_text(std::string_view text) { return lowered(unit_text(text)); }

std::string unit_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      static constexpr std::string_view kDropped[] = {"\\text",   "\\mathrm", "\\mbox",  "\\textbf",
                                                      "\\mathbf", "\\left",   "\\right", "\\textit",
                                                      "\\quad",   "\\qquad"};
      std::size_t longest = 0;
      for (std::string_view word : kDropped)
        if (text.substr(i).starts_with(word)) longest = std::max(longest, word.size());
      i += longest > 0 ? longest - 1 : 0;
      continue;
    }
    if (std::string_view(" \t\n\r(){}$\"'`~*").find(c) != std::string_view::npos) continue;
    if (is_quotation_mark(text.substr(i, 3))) {
      i += 2;
      continue;
    }
    out.push_back(c);
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

std::string without_spacing(std::string_view text) {
  static constexpr std::string_view kDropped[] = {"\\left", "\\right", "\\,", "\\!", "\\;",
                                                  "\\:",    "\\ ",     "~",   "$"};
  std::string out;
  bool apart = false;  // something was dropped after the last sign
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t length =
        std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos ? 1 : 0;
    for (const std::string_view word : kDropped)
      if (text.substr(i).starts_with(word)) length = word.size();
    const bool behind_digit = !out.empty() && is_digit(out.back());
    if (length > 0) {
      i += length - 1;
      apart = apart || behind_digit;
    } else {
      // A space keeps "1 2" apart from 12.
      if (apart && behind_digit && is_digit(text[i])) out.push_back(' ');
      apart = false;
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string normal_name(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '\\' && c != '{' && c != '}' && c != ' ') out.push_back(c);
  return out;
}

}  // namespace lie::latex
