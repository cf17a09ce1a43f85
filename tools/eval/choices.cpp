#include "tools/eval/choices.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/text/scan.h"

namespace lie::evaluation {
namespace {

/// Strips typesetting commands, such as \text{ or \mathbf{, and opening brackets from the front.
std::string_view without_wrapping(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWraps = {"\\text{",   "\\textbf{", "\\textrm{",
                                                      "\\mathrm{", "\\mathbf{", "\\mathbf",
                                                      "\\mathrm",  "\\text",    "\\left"};
  for (bool again = true; again;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n({[$*~"), text.size()));
    again = false;
    for (const std::string_view wrap : kWraps) {
      if (!text.starts_with(wrap)) continue;
      text.remove_prefix(wrap.size());
      again = true;
      break;
    }
  }
  return text;
}

/// Returns whether a text joins another choice to the one before it: ", B", "or (C)", "/D".
bool joins_another_choice(std::string_view text) {
  bool joined = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_letter_or_digit(text[end])) ++end;
    if (end == i) {
      joined = joined || std::string_view(",;/&").find(text[i]) != std::string_view::npos;
      ++i;
      continue;
    }
    const std::string word = lowered(text.substr(i, end - i));
    if (joined && word.size() == 1 && text[i] >= 'A' && text[i] <= 'J') return true;
    joined = word == "or" || word == "and";
    i = end;
  }
  return false;
}

/// Returns a pattern in which a choice follows `before`: a letter that stands alone, perhaps in
/// bold and brackets. The groups are both brackets and, between them, the letter. All repetitions
/// are bounded, because std::regex calls itself for each.
std::regex choice_pattern(const std::string& before, const std::string& after = "") {
  constexpr const char* kChoice = R"([\s*]{0,9}(\(?)\s{0,9}([a-j])(?![a-z0-9])\s{0,9}(\)?))";
  return std::regex(before + kChoice + after, std::regex::icase);
}

/// Returns the choice of the last match. A lower-case letter must be in brackets.
std::optional<char> last_match(const std::regex& pattern, const std::string& text) {
  std::optional<char> choice;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    const char letter = *(*match)[2].first;
    const bool in_brackets = (*match).length(1) > 0 && (*match).length(3) > 0;
    if (in_brackets || to_upper(letter) == letter) choice = to_upper(letter);
  }
  return choice;
}

}  // namespace

std::optional<char> choice_letter(std::string_view answer) {
  const std::string_view text = without_wrapping(answer);
  if (text.empty() || !is_letter(text[0])) return std::nullopt;
  // "Always" is not the choice A, nor is "A right triangle"; A = 3 is mathematics.
  if (text.size() > 1 && std::string_view(" )}].:*\\").find(text[1]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t word = std::min(text.find_first_not_of(' ', 1), text.size());
  if (word < text.size() && is_letter_or_digit(text[word])) return std::nullopt;
  const std::size_t next = std::min(text.find_first_not_of(" )}]*", 1), text.size());
  if (next < text.size() && std::string_view("=+-^_").find(text[next]) != std::string_view::npos) {
    return std::nullopt;
  }
  if (joins_another_choice(text.substr(1))) return std::nullopt;
  const char letter = to_upper(text[0]);
  return letter <= 'J' ? std::optional(letter) : std::nullopt;
}

bool is_choice(std::string_view gold) {
  return gold.size() == 1 && gold[0] >= 'A' && gold[0] <= 'J';
}

std::int64_t count_digit_keys(std::span<const Prompt> prompts) {
  std::set<std::string_view> choices;  // data sources
  for (const Prompt& prompt : prompts) {
    if (is_choice(prompt.gold)) choices.insert(prompt.data_source);
  }
  return std::ranges::count_if(prompts, [&](const Prompt& prompt) {
    return prompt.gold.size() == 1 && is_digit(prompt.gold[0]) &&
           choices.contains(prompt.data_source);
  });
}

ChoicePatterns::ChoicePatterns() {
  const std::string colon = R"(\s{0,9}(?:\*\*)?(?::|：))";
  patterns_ = {choice_pattern(R"(\banswer)" + colon),
               choice_pattern(R"(\banswer\s{0,9}is(?:)" + colon + ")?"),
               choice_pattern(R"(\boption)", R"(\s{0,9}is\s{0,9}correct)"),
               choice_pattern(R"(\b(?:choose|select))"),
               std::regex(R"((?:^|\n)[ \t*(]{0,9}()([A-J])(\)))")};
}

std::optional<char> ChoicePatterns::find(const std::string& response) const {
  for (const std::regex& pattern : patterns_) {
    if (const auto choice = last_match(pattern, response)) return choice;
  }
  return std::nullopt;
}

}  // namespace lie::evaluation
