#include "verifier/latex/text.h"

#include <algorithm>
#include <span>

#include "common/text/scan.h"

namespace lie::latex {
namespace {

// Returns the length of the longest word at the front of a text, or 0.
std::size_t length_of(std::string_view text, std::span<const std::string_view> words) {
  std::size_t longest = 0;
  for (const std::string_view word : words)
    if (text.starts_with(word)) longest = std::max(longest, word.size());
  return longest;
}

}  // namespace

std::string normal_text(std::string_view text) { return lowered(unit_text(text)); }

std::string unit_text(std::string_view text) {
  static constexpr std::string_view kDropped[] = {
      "\\",       "\\text", "\\mathrm", "\\mbox", "\\textbf", "\\mathbf", "\\left", "\\right",
      "\\textit", "\\quad", "\\qquad",  " ",      "\t",       "\n",       "\r",     "(",
      ")",        "{",      "}",        "$",      "\"",       "'",        "`",      "~",
      "*",        "“",      "”",        "‘",      "’"};
  std::string out;
  while (!text.empty()) {
    const std::size_t length = length_of(text, kDropped);
    if (length == 0) out.push_back(text.front());
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

std::string without_spacing(std::string_view text) {
  static constexpr std::string_view kDropped[] = {
      "\\left", "\\right", "\\,", "\\!", "\\;", "\\:", "\\ ", "~", "$", " ", "\t", "\r", "\n"};
  std::string out;
  bool apart = false;  // something was dropped after the last sign
  while (!text.empty()) {
    const std::size_t length = length_of(text, kDropped);
    const bool behind_digit = !out.empty() && is_digit(out.back());
    if (length > 0) {
      apart = apart || behind_digit;
    } else {
      // A space keeps "1 2" apart from 12.
      if (apart && behind_digit && is_digit(text.front())) out.push_back(' ');
      apart = false;
      out.push_back(text.front());
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
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
