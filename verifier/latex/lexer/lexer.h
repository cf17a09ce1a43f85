// Splits LaTeX or plain mathematics into tokens in one pass.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::latex {

enum class Tok : std::uint8_t {
  kEnd,
  kBad,
  kNumber,    // Token::number
  kSymbol,    // name: one letter, Greek name or the like
  kWord,      // a run of letters that is no known word; name
  kConstant,  // name: pi, infinity
  kFunction,  // fn
  kText,      // \text{name}
  kSiunitx,   // a command of the package siunitx; the lexer replaces it
  kNamedSet,  // name
  kPlus,
  kMinus,
  kPlusMinus,
  kMinusPlus,
  kTimes,
  kDivide,
  kColon,
  kMod,
  kPmod,
  kCaret,
  kUnderscore,
  kBang,
  kPrime,
  kPercent,
  kDegree,
  kCurrency,
  kComma,
  kSemicolon,
  kAnd,
  kOr,
  kLogic,      // name: and, or, by their signs
  kOperation,  // an operation that is no product of numbers; name
  kRelation,   // rel
  kCup,
  kCap,
  kSetMinus,
  kBar,
  kDoubleBar,
  kMid,
  kOpen,
  kClose,  // bracket: ( [ { for \{ , F floor, C ceiling, A angle
  kBraceOpen,
  kBraceClose,  // TeX groups
  kFrac,
  kSqrt,
  kBinom,
  kChoose,
  kOver,
  kBoxed,
  kAccent,
  kOperatorName,
  kSum,
  kProd,
  kBegin,
  kEndEnvironment,  // name
  kAmpersand,
  kRowBreak,
  kDots,
  kPeriod,
  kIgnore,
};

/// A token. `name` points into the text or into the table.
struct Token {
  Tok kind = Tok::kEnd;
  expr::Fn fn = expr::Fn::kNone;
  expr::Rel rel = expr::Rel::kEqual;
  char bracket = 0;
  bool spaced = false;   // white space or a thin space precedes it
  bool decimal = false;  // kNumber: with a point
  /// kNumber: may be one more group of three digits of the number before the comma.
  bool thousands = false;
  bool repeating = false;    // kNumber: ends in a point, for \overline to follow
  std::uint32_t number = 0;  // kNumber: index into Lexed::numbers
  std::uint32_t begin = 0;   // byte position
  std::uint32_t end = 0;
  std::string_view name;
};

/// The meaning of a word or command. The look-ups return nullptr for an unknown one. Commands come
/// without their backslash.
struct Meaning {
  std::string_view word;
  Tok kind;
  expr::Fn fn = expr::Fn::kNone;
  expr::Rel rel = expr::Rel::kEqual;
  char bracket = 0;
  std::string_view name = {};
};
const Meaning* command(std::string_view word);
/// Returns the longest known command at the start of `word`: \vertx is \vert x.
const Meaning* command_prefix(std::string_view word);
/// Looks up a word of plain mathematics outside of \text: "sqrt", "pi", "or".
const Meaning* plain_word(std::string_view word);
/// Returns the number that small letters without spaces spell: "onehundredandfive", "two-thirds",
/// or that Chinese numerals write: "一百零五".
std::optional<exact::Rational> number_in_words(std::string_view text);
/// Returns the number that an ordinal in small letters spells: "first", "twenty-third". Nothing for
/// a fraction such as "two-thirds".
std::optional<exact::Rational> ordinal_in_words(std::string_view text);
/// A literal such as 0x1F: its value, and its length in bytes.
struct RadixLiteral {
  exact::Rational value;
  std::size_t length = 0;
};
/// Reads 0x1F, 0b101 or 0o17 at the front of a text. Returns nothing if letters or digits that do
/// not belong to it follow.
std::optional<RadixLiteral> radix_literal(std::string_view text);
/// Returns the length of the ending of 1st, 2nd, 3rd and 4th at the front of a text, or 0.
std::size_t ordinal_ending(std::string_view text);
/// Looks up a character beyond ASCII, given as UTF-8.
const Meaning* unicode(std::string_view character);

/// The tokens of a text. Names point into the text, the tables, or `names`.
struct Lexed {
  std::vector<Token> tokens;  // ends with kEnd
  std::vector<exact::Rational> numbers;
  std::deque<std::string> names;
  bool logic = false;   // a token is kLogic
  bool points = false;  // a token is kPeriod
};

/// The parts of "hours 30 minutes", whose units have the same dimension.
struct UnitsOfSum {
  std::string_view first, number, second;
};

/// What the lexer asks about the texts after operands.
struct TextRules {
  /// Returns whether a text is mathematics instead of a unit or words.
  bool (*is_formula)(std::string_view text) = nullptr;
  /// Reads two units with a number between them.
  std::optional<UnitsOfSum> (*parts_of_sum)(std::string_view words) = nullptr;
};

/// Splits a text into tokens, and brings alternative spellings to one. Never fails: unknown input
/// becomes Tok::kBad with its position. Spends one step of the budget per token.
Lexed lex(std::string_view text, Budget& budget, const TextRules& rules);

}  // namespace lie::latex
