// Rewrites alternative spellings, which are recognized by the tokens around them, to the one that
// is parsed.
#include <algorithm>
#include <span>
#include <vector>

#include "common/text/scan.h"
#include "verifier/latex/lexer/declarations.h"
#include "verifier/latex/lexer/lexer_state.h"

namespace lie::latex {
namespace {

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

// Returns whether tokens after an empty group are those of {}^5C_2 or {}^5P_2.
bool selects(std::span<const Token> script) {
  const std::size_t letter = script.size() > 1 && script[1].kind == Tok::kBraceOpen ? 4 : 2;
  return script.size() > letter + 1 && script[letter].kind == Tok::kSymbol &&
         is_one_of(script[letter].name, "C", "P") && script[letter + 1].kind == Tok::kUnderscore;
}

// Removes the empty group of 90{}^2.
void drop_empty_bases(std::vector<Token>& tokens) {
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    const bool empty = tokens[i].kind == Tok::kBraceOpen &&
                       tokens[i + 1].kind == Tok::kBraceClose &&
                       is_one_of(tokens[i + 2].kind, Tok::kCaret, Tok::kUnderscore) &&
                       !selects(std::span(tokens).subspan(i + 2));
    const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    if (empty) tokens.erase(at, at + 2);
  }
}

// Removes a point before a closing bracket, as in (1, \sqrt{2}.].
void drop_points(std::vector<Token>& tokens) {
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i)
    if (tokens[i].kind == Tok::kPeriod && tokens[i + 1].kind == Tok::kClose)
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
}

// Returns whether brackets with a comma, as of an interval, follow.
bool starts_interval(std::span<const Token> tokens) {
  if (tokens[0].kind != Tok::kOpen) return false;
  const auto close = std::ranges::find(tokens, Tok::kClose, &Token::kind);
  return close != tokens.end() && std::find_if(tokens.begin(), close, [](const Token& token) {
                                    return token.kind == Tok::kComma;
                                  }) != close;
}

// Rewrites the letter between the intervals (-\infty, 2) U (3, \infty) as the sign of a union.
void read_typed_unions(std::vector<Token>& tokens) {
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const bool letter = is_one_of(tokens[i].kind, Tok::kSymbol, Tok::kText) &&
                        trimmed(tokens[i].name) == "U" && tokens[i - 1].kind == Tok::kClose;
    if (letter && starts_interval(std::span(tokens).subspan(i + 1))) tokens[i].kind = Tok::kCup;
  }
}

// Returns the number of primes of ^\prime and ^{\prime\prime} at a caret, or 0.
std::size_t raised_primes(std::span<const Token> tokens) {
  if (tokens[1].kind == Tok::kPrime) return 1;
  if (tokens[1].kind != Tok::kBraceOpen) return 0;
  std::size_t n = 0;
  while (tokens[2 + n].kind == Tok::kPrime) ++n;
  return tokens[2 + n].kind == Tok::kBraceClose ? n : 0;
}

// Rewrites f^{\prime} as f', and the minutes of 30^\circ 15^{\prime} as 15'. Elsewhere, as in
// 5^{\prime} feet, the sign is dropped.
void lower_primes(std::vector<Token>& tokens) {
  bool degrees = false;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    degrees = degrees || tokens[i].kind == Tok::kDegree;
    const bool index = i > 1 && tokens[i - 2].kind == Tok::kUnderscore;
    const bool named = tokens[i - 1].kind == Tok::kSymbol && !index;
    if (tokens[i].kind != Tok::kCaret ||
        !(named || (degrees && tokens[i - 1].kind == Tok::kNumber)))
      continue;
    const std::size_t primes = raised_primes(std::span(tokens).subspan(i));
    if (primes == 0) continue;
    const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    if (tokens[i + 1].kind == Tok::kBraceOpen)
      tokens.erase(at + static_cast<std::ptrdiff_t>(primes) + 2);
    tokens.erase(at, at + (tokens[i + 1].kind == Tok::kBraceOpen ? 2 : 1));
  }
}

}  // namespace

void respell(Lexed& lexed) {
  if (lexed.points) drop_points(lexed.tokens);
  read_declarations(lexed.tokens);
  turn_brackets(lexed.tokens);
  drop_empty_bases(lexed.tokens);
  lower_primes(lexed.tokens);
  read_typed_unions(lexed.tokens);
  escape_builder(lexed.tokens);
  read_typed_numbers(lexed.tokens);
}

}  // namespace lie::latex
