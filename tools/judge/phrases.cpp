#include "tools/judge/phrases.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/text/scan.h"

namespace lie::judge {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostBetween = 12;
constexpr std::string_view kApostrophe = "\xE2\x80\x99";  // U+2019

/// An ASCII letter or digit, or a byte of any other character.
bool is_of_a_word(char c) { return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80; }

std::string with_plain_apostrophes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const bool found = text.substr(i).starts_with(kApostrophe);
    plain += found ? '\'' : text[i];
    i += found ? kApostrophe.size() : 1;
  }
  return plain;
}

/// Whether the sentence ends at the character with index i.
bool ends_sentence(std::string_view text, std::size_t i) {
  const char next = i + 1 < text.size() ? text[i + 1] : '\n';
  if (text[i] == '\n') return next == '\n';
  return (text[i] == '.' || text[i] == '!' || text[i] == '?') && !is_of_a_word(next);
}

std::vector<Words> sentences_of(std::string_view response) {
  const std::string text = with_plain_apostrophes(response);
  std::vector<Words> sentences(1);
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (is_of_a_word(text[i]) || (text[i] == '\'' && !word.empty()))) {
      word += to_lower(text[i]);
      continue;
    }
    if (!word.empty()) sentences.back().push_back(std::exchange(word, {}));
    if (i < text.size() && ends_sentence(text, i)) sentences.emplace_back();
  }
  return sentences;
}

bool stands_at(std::span<const std::string> part, std::span<const std::string> words) {
  return words.size() >= part.size() && std::ranges::equal(part, words.first(part.size()));
}

/// Whether the parts from `part` on follow, the first of them after at most kMostBetween words.
bool follows(const Phrase& phrase, std::size_t part, std::span<const std::string> words) {
  if (part == phrase.parts.size()) return true;
  for (std::size_t skip = 0; skip <= std::min(kMostBetween, words.size()); ++skip) {
    if (stands_at(phrase.parts[part], words.subspan(skip)) &&
        follows(phrase, part + 1, words.subspan(skip + phrase.parts[part].size()))) {
      return true;
    }
  }
  return false;
}

bool holds(std::span<const std::string> sentence, const Phrase& phrase) {
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const auto rest = sentence.subspan(i);
    if (stands_at(phrase.parts.front(), rest) &&
        follows(phrase, 1, rest.subspan(phrase.parts.front().size()))) {
      return true;
    }
  }
  return false;
}

Phrase parse_phrase(std::string_view line, const std::string& place) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  const auto measure = std::ranges::find(kMeasures, name) - kMeasures.begin();
  if (colon == std::string_view::npos || measure >= static_cast<std::ptrdiff_t>(kGraphTopic)) {
    fail("{}: expected a behavior, a colon and a phrase, such as \"verification: let me check\"",
         place);
  }
  Phrase phrase{static_cast<std::size_t>(measure), {}};
  for (std::string_view rest = line.substr(colon + 1); !rest.empty();) {
    const std::size_t gap = std::min(rest.find("..."), rest.size());
    phrase.parts.push_back(sentences_of(rest.substr(0, gap)).front());
    if (phrase.parts.back().empty()) fail("{}: no words beside \"...\" or the colon", place);
    rest.remove_prefix(std::min(gap + 3, rest.size()));
  }
  if (phrase.parts.empty()) fail("{}: no phrase after the colon", place);
  return phrase;
}

}  // namespace

std::vector<Phrase> parse_phrases(std::string_view text, const std::string& place) {
  std::vector<Phrase> phrases;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    phrases.push_back(parse_phrase(line, fmt::format("{}:{}", place, number)));
  }
  if (phrases.empty()) fail("{}: holds no phrase, such as \"verification: let me check\"", place);
  return phrases;
}

Values count_phrases(const std::vector<Phrase>& phrases, std::string_view response) {
  Values values;
  for (const Phrase& phrase : phrases) values[phrase.measure] = 0;
  for (const Words& sentence : sentences_of(response)) {
    std::array<bool, kMeasures.size()> found = {};
    for (const Phrase& phrase : phrases) {
      if (!found[phrase.measure]) found[phrase.measure] = holds(sentence, phrase);
    }
    for (std::size_t m = 0; m < found.size(); ++m) {
      if (found[m]) *values[m] += 1;
    }
  }
  return values;
}

}  // namespace lie::judge
