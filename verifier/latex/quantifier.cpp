#include "verifier/latex/quantifier.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "common/text/scan.h"

namespace lie::latex {
namespace {

/// Returns whether a text holds only single letters and words that describe all reals.
bool is_harmless(std::string_view text) {
  constexpr std::array<std::string_view, 14> kWords = {
      "for",   "all",     "every",  "each", "any", "real", "reals",
      "value", "numbers", "number", "of",   "the", "in",   "values"};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    while (i < text.size() && is_letter(text[i])) ++i;
    const std::string_view word = text.substr(begin, i - begin);
    if (word.size() > 1 && std::ranges::find(kWords, word) == kWords.end()) return false;
    if (!word.empty()) continue;
    if (std::string_view(" ,.$").find(text[i]) == std::string_view::npos) return false;
    ++i;
  }
  return true;
}

bool may_follow(const Token& token) {
  switch (token.kind) {
    case Tok::kText:
    case Tok::kWord: return is_harmless(token.name);
    case Tok::kSymbol:
    case Tok::kComma:
    case Tok::kPeriod:
    case Tok::kEnd: return true;
    case Tok::kRelation: return token.rel == expr::Rel::kIn;
    case Tok::kNamedSet: return token.name == "R";
    default: return false;
  }
}

bool begins(const Token& token, const Token& next) {
  if (token.kind == Tok::kSymbol) return token.name == "forall";
  const auto quantifies = [](std::string_view word) {
    return word == "all" || word == "every" || word == "each" || word == "any";
  };
  if (token.kind == Tok::kWord) {
    return token.name == "for" && next.kind == Tok::kWord && quantifies(next.name);
  }
  if (token.kind != Tok::kText) return false;
  const std::size_t start = std::min(token.name.find_first_not_of(' '), token.name.size());
  const std::string_view text = token.name.substr(start);
  if (!text.starts_with("for ")) return false;
  return quantifies(text.substr(4, text.find(' ', 4) - 4));
}

// Returns the words of a text.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t begin = i;
    while (i < text.size() && is_letter(text[i])) ++i;
    if (i > begin) words.push_back(text.substr(begin, i - begin));
  }
  return words;
}

bool introduces(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWords = {
      "for", "where", "with", "and",   "is",   "are",       "be",  "an",
      "any", "all",   "some", "every", "each", "arbitrary", "let", "as"};
  return std::ranges::find(kWords, word) != kWords.end();
}

bool is_introduction(const Token& token) {
  return token.kind == Tok::kText && std::ranges::all_of(words_of(token.name), introduces);
}

Token made(Tok kind, const Token& place, std::string_view name) {
  Token token{.kind = kind, .begin = place.begin, .end = place.end, .name = name};
  token.rel = expr::Rel::kIn;
  return token;
}

// Returns the name in "where k is an integer", or nothing where the text says more or less.
std::string_view integer_in_words(std::span<const Token> tokens) {
  std::string_view name;
  bool integer = false;
  for (const Token& token : tokens) {
    for (const std::string_view word : words_of(token.name)) {
      const bool says = word == "integer" || word == "integers";
      integer = integer || says;
      if (says || introduces(word)) continue;
      if (word.size() > 1 || !name.empty()) return {};
      name = word;
    }
  }
  return integer ? name : std::string_view{};
}

using Tokens = std::vector<Token>;

// Returns where "k \in \mathbb{Z}" in brackets or after "where" begins, with these, or the end.
Tokens::iterator bracketed_declaration(Tokens& tokens, Tokens::iterator end) {
  const bool bracket = end != tokens.begin() && (end - 1)->kind == Tok::kClose;
  const auto last = end - (bracket ? 1 : 0);
  if (last - tokens.begin() < 4 || (last - 1)->kind != Tok::kNamedSet ||
      (last - 2)->kind != Tok::kRelation || (last - 2)->rel != expr::Rel::kIn ||
      (last - 3)->kind != Tok::kSymbol)
    return end;
  auto begin = last - 3;
  if (bracket && (begin - 1)->kind != Tok::kOpen) return end;
  if (bracket) --begin;
  if (begin != tokens.begin() && is_introduction(*(begin - 1))) --begin;
  return begin == last - 3 ? end : begin;
}

// Returns where the text "k is an integer" begins, or the end.
Tokens::iterator worded_declaration(Tokens& tokens, Tokens::iterator end) {
  auto begin = end;
  while (begin != tokens.begin() &&
         ((begin - 1)->kind == Tok::kText || (begin - 1)->kind == Tok::kSymbol))
    --begin;
  const bool behind_comma = begin != tokens.begin() && (begin - 1)->kind == Tok::kComma;
  while (begin != end && begin->kind != Tok::kText && !behind_comma) ++begin;
  return begin;
}

}  // namespace

void separate_declaration(Lexed& lexed) {
  std::vector<Token>& tokens = lexed.tokens;
  auto end = tokens.end() - 1;
  if (end != tokens.begin() && (end - 1)->kind == Tok::kPeriod) --end;
  auto begin = bracketed_declaration(tokens, end);
  std::array<Token, 4> declaration;
  if (begin != end) {
    const auto set =
        std::find_if(begin, end, [](const Token& t) { return t.kind == Tok::kNamedSet; });
    std::copy(set - 2, set + 1, declaration.begin() + 1);
  } else {
    begin = worded_declaration(tokens, end);
    const std::string_view name = integer_in_words({begin, end});
    if (name.empty()) return;
    declaration[1] = made(Tok::kSymbol, *begin, name);
    declaration[2] = made(Tok::kRelation, *begin, {});
    declaration[3] = made(Tok::kNamedSet, *begin, "Z");
  }
  if (begin == tokens.begin()) return;
  declaration[0] = made(Tok::kComma, *begin, {});
  const bool comma = (begin - 1)->kind == Tok::kComma;
  const auto at = tokens.erase(begin, end);
  tokens.insert(at, declaration.begin() + (comma ? 1 : 0), declaration.end());
}

void drop_trailing_quantifier(Lexed& lexed) {
  std::vector<Token>& tokens = lexed.tokens;
  const auto related = std::ranges::find(tokens, Tok::kRelation, &Token::kind);
  for (auto at = related; at != tokens.end() && at->kind != Tok::kEnd; ++at) {
    if (!begins(*at, *(at + 1))) continue;
    if (std::all_of(at, tokens.end(), may_follow)) tokens.erase(at, tokens.end() - 1);
    return;
  }
}

}  // namespace lie::latex
