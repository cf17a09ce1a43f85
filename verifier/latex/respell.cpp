#include "verifier/latex/respell.h"

#include <algorithm>

#include "verifier/latex/quantifier.h"
#include "verifier/latex/text.h"

namespace lie::latex {
namespace {

void read_ratio_in_words(std::vector<Token>& tokens) {
  const std::size_t count = tokens.size() - 1;  // without kEnd
  if (count < 3 || count % 2 == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    const Token& token = tokens[i];
    const bool word = token.kind == Tok::kText || token.kind == Tok::kWord;
    const bool fits =
        i % 2 == 0 ? token.kind == Tok::kNumber : word && normal_text(token.name) == "to";
    if (!fits) return;
  }
  for (std::size_t i = 1; i < count; i += 2) tokens[i].kind = Tok::kColon;
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

// Removes the brackets of a remark after a value: 5 (units).
void unbracket_remark(std::vector<Token>& tokens) {
  if (tokens.size() < 4 || tokens[tokens.size() - 2].kind != Tok::kClose) return;
  std::size_t open = tokens.size() - 3;
  while (open > 1 && is_one_of(tokens[open].kind, Tok::kText, Tok::kWord)) --open;
  const bool remark =
      open + 3 < tokens.size() && tokens[open].kind == Tok::kOpen &&
      is_one_of(tokens[open - 1].kind, Tok::kNumber, Tok::kBraceClose, Tok::kClose, Tok::kConstant);
  if (!remark) return;
  tokens.erase(tokens.end() - 2);
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(open));
}

// Removes the alignment marks of x &= 3.
void drop_alignment(std::vector<Token>& tokens) {
  if (std::ranges::find(tokens, Tok::kAmpersand, &Token::kind) == tokens.end()) return;
  std::vector<Token> kept;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool beside =
        tokens[i].kind == Tok::kAmpersand &&
        ((i > 0 && tokens[i - 1].kind == Tok::kRelation) || tokens[i + 1].kind == Tok::kRelation);
    if (!beside) kept.push_back(tokens[i]);
  }
  tokens = std::move(kept);
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

// Removes the empty group of 90{}^2. In {}_{10}C_3 it holds the first index.
void drop_empty_bases(std::vector<Token>& tokens) {
  for (std::size_t i = 1; i + 4 < tokens.size(); ++i) {
    if (tokens[i].kind != Tok::kBraceOpen || tokens[i + 1].kind != Tok::kBraceClose ||
        !is_one_of(tokens[i + 2].kind, Tok::kCaret, Tok::kUnderscore))
      continue;
    std::size_t end = i + 3;
    while (tokens[i + 3].kind == Tok::kBraceOpen && tokens[end].kind != Tok::kBraceClose &&
           end + 2 < tokens.size())
      ++end;
    const bool indexed =
        is_one_of(tokens[end + 1].name, "C", "P") &&
        is_one_of(tokens[std::min(end + 2, tokens.size() - 1)].kind, Tok::kUnderscore, Tok::kCaret);
    if (!indexed)
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                   tokens.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  }
}

}  // namespace

void respell(Lexed& lexed) {
  drop_trailing_quantifier(lexed);
  separate_declaration(lexed);
  read_ratio_in_words(lexed.tokens);
  turn_brackets(lexed.tokens);
  unbracket_remark(lexed.tokens);
  drop_alignment(lexed.tokens);
  drop_empty_bases(lexed.tokens);
  escape_builder(lexed.tokens);
  read_typed_numbers(lexed.tokens);
}

}  // namespace lie::latex
