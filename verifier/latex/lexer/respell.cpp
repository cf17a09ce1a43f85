// Rewrites alternative spellings, which the tokens around them tell apart, to the one that is
// parsed.

#include <algorithm>
#include <array>
#include <vector>

#include "common/text/scan.h"
#include "verifier/latex/lexer/lexer_state.h"

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

// Puts a comma before the declaration of an integer at the end of an answer: "2k\pi (k \in
// \mathbb{Z})" and "2k\pi \text{ where } k \in \mathbb{Z}" become "2k\pi, k \in \mathbb{Z}".
void separate_declaration(std::vector<Token>& tokens) {
  auto end = tokens.end() - 1;
  if (end != tokens.begin() && (end - 1)->kind == Tok::kPeriod) --end;
  const bool bracket = end != tokens.begin() && (end - 1)->kind == Tok::kClose;
  const auto last = end - (bracket ? 1 : 0);
  if (last - tokens.begin() < 5 || (last - 1)->kind != Tok::kNamedSet ||
      (last - 2)->kind != Tok::kRelation || (last - 2)->rel != expr::Rel::kIn ||
      (last - 3)->kind != Tok::kSymbol)
    return;
  Token& before = *(last - 4);
  const std::string_view words = trimmed(before.name);
  const bool introduces =
      before.kind == Tok::kText && is_one_of(words, "where", "with", "for", "for any", "for all");
  if (introduces || (bracket && before.kind == Tok::kOpen)) before.kind = Tok::kComma;
  if (bracket && before.kind == Tok::kComma) tokens.erase(last);
}

// Removes a universal quantifier over the reals, or without a domain, at the end of an answer with
// a relation sign. Others ("for all x > 0", "for every integer n") stay.
void drop_trailing_quantifier(std::vector<Token>& tokens) {
  const auto related = std::ranges::find(tokens, Tok::kRelation, &Token::kind);
  for (auto at = related; at != tokens.end() && at->kind != Tok::kEnd; ++at) {
    if (!begins(*at, *(at + 1))) continue;
    if (std::all_of(at, tokens.end(), may_follow)) tokens.erase(at, tokens.end() - 1);
    return;
  }
}

// Returns whether a token may stand next to an interval.
bool parts_sets(const Token& token) {
  return is_one_of(token.kind, Tok::kCup, Tok::kCap, Tok::kSetMinus, Tok::kComma, Tok::kSemicolon,
                   Tok::kAnd, Tok::kOr, Tok::kRelation, Tok::kPeriod, Tok::kEnd);
}

// Rewrites ]0, 1[, whose reversed brackets exclude the ends.
void turn_brackets(std::vector<Token>& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    Token& token = tokens[i];
    const bool at_start = i == 0 || parts_sets(tokens[i - 1]);
    if (token.kind == Tok::kClose && token.bracket == ']' && at_start) {
      token.kind = Tok::kOpen;
      token.bracket = '(';
    } else if (token.kind == Tok::kOpen && token.bracket == '[' && !at_start &&
               parts_sets(tokens[i + 1])) {
      token.kind = Tok::kClose;
      token.bracket = ')';
    }
  }
}

// Rewrites 3x10^8 as a product and ^3/_5 as a fraction.
void read_typed_numbers(std::vector<Token>& tokens) {
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    const bool power_of_ten = tokens[i - 1].kind == Tok::kNumber &&
                              tokens[i].kind == Tok::kSymbol && tokens[i].name == "x" &&
                              tokens[i + 1].name == "10" && tokens[i + 2].kind == Tok::kCaret;
    if (power_of_ten) tokens[i].kind = Tok::kTimes;
  }
  const bool fraction = tokens.size() == 6 && tokens[0].kind == Tok::kCaret &&
                        tokens[1].kind == Tok::kNumber && tokens[2].kind == Tok::kDivide &&
                        tokens[3].kind == Tok::kUnderscore && tokens[4].kind == Tok::kNumber;
  if (!fraction) return;
  tokens.erase(tokens.begin() + 3);
  tokens.erase(tokens.begin());
}

// Rewrites {x | x > 0} without backslashes before its braces as the set.
void escape_builder(std::vector<Token>& tokens) {
  const std::size_t last = tokens.size() - 2;  // before kEnd
  const bool builder =
      tokens.size() > 6 && tokens[0].kind == Tok::kBraceOpen && tokens[1].kind == Tok::kSymbol &&
      is_one_of(tokens[2].kind, Tok::kBar, Tok::kMid) && tokens[last].kind == Tok::kBraceClose;
  if (!builder) return;
  tokens[0].kind = Tok::kOpen;
  tokens[0].bracket = '{';
  tokens[last].kind = Tok::kClose;
  tokens[last].bracket = '}';
}

// Removes the empty group of 90{}^2.
void drop_empty_bases(std::vector<Token>& tokens) {
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    const bool empty = tokens[i].kind == Tok::kBraceOpen &&
                       tokens[i + 1].kind == Tok::kBraceClose &&
                       is_one_of(tokens[i + 2].kind, Tok::kCaret, Tok::kUnderscore);
    const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    if (empty) tokens.erase(at, at + 2);
  }
}

}  // namespace

void respell(Lexed& lexed) {
  drop_trailing_quantifier(lexed.tokens);
  separate_declaration(lexed.tokens);
  turn_brackets(lexed.tokens);
  drop_empty_bases(lexed.tokens);
  escape_builder(lexed.tokens);
  read_typed_numbers(lexed.tokens);
}

}  // namespace lie::latex
