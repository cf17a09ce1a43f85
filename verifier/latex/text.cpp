#include "verifier/latex/text.h"

#include <algorithm>
#include <span>

#include "common/text/scan.h"
#include "verifier/latex/lexer/lexer.h"

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

namespace {

// Returns whether capitals tell a word from another. A word in small letters, in capitals or with
// one capital in front is the same word.
bool capitals_count(std::string_view word) {
  constexpr std::size_t kLongest = 8, kLongestMixed = 6;
  static constexpr std::string_view kWords[] = {"ab", "al", "am", "an", "as", "at", "be", "by",
                                                "do", "ed", "go", "he", "hi", "if", "in", "is",
                                                "it", "jo", "me", "my", "no", "of", "oh", "ok",
                                                "on", "or", "so", "to", "up", "us", "we"};
  if (word.size() < 2 || word.size() > kLongest || !std::ranges::all_of(word, is_letter))
    return false;
  const std::string small = lowered(word);
  bool pairs = word.size() % 2 == 0;
  for (std::size_t i = 0; pairs && i < word.size(); i += 2) pairs = small[i] == small[i + 1];
  if (pairs) return true;
  const auto capital = [](char c) { return c != to_lower(c); };
  const auto capitals = static_cast<std::size_t>(std::ranges::count_if(word, capital));
  const bool plain =
      capitals == 0 || capitals == word.size() || (capitals == 1 && capital(word[0]));
  if (!plain) return word.size() <= kLongestMixed;
  return word.size() == 2 && capitals > 0 && std::ranges::find(kWords, small) == std::end(kWords);
}

}  // namespace

std::string compared_text(std::string_view text) {
  std::string out = unit_text(text);
  return text.find(' ') == std::string_view::npos && capitals_count(out) ? out : lowered(out);
}

std::string unit_text(std::string_view text) {
  static constexpr std::string_view kDropped[] = {"\\",
                                                  "\\text",
                                                  "\\mathrm",
                                                  "\\mbox",
                                                  "\\textbf",
                                                  "\\mathbf",
                                                  "\\left",
                                                  "\\right",
                                                  "\\textrm",
                                                  "\\textsf",
                                                  "\\textnormal",
                                                  "\\textup",
                                                  "\\texttt",
                                                  "\\emph",
                                                  "\\textit",
                                                  "\\rm",
                                                  "\\bf",
                                                  "\\quad",
                                                  "\\qquad",
                                                  " ",
                                                  "\t",
                                                  "\n",
                                                  "\r",
                                                  "(",
                                                  ")",
                                                  "{",
                                                  "}",
                                                  "$",
                                                  "\"",
                                                  "'",
                                                  "`",
                                                  "~",
                                                  "*",
                                                  "“",
                                                  "”",
                                                  "‘",
                                                  "’"};
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

bool is_greek(std::string_view name) {
  name = name.substr(0, name.find('_'));
  return name.size() > 1 && command(name) != nullptr;
}

std::string normal_name(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '\\' && c != '{' && c != '}' && c != ' ') out.push_back(c);
  return out;
}

}  // namespace lie::latex
