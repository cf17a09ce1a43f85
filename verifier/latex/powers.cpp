// Parses powers, factorials, signs after an operand, subscripts and numbers in a base.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/text/scan.h"
#include "verifier/latex/measures.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"

namespace lie::latex {

const Expr* Parser::power_or_postfix() {
  const Expr* base = atom();
  return base == nullptr ? nullptr : postfix(base);
}

const Expr* Parser::postfix(const Expr* base) {
  while (base != nullptr) {
    if (!enter()) return nullptr;
    const bool letter = at_ > 0 && lexed_.tokens[at_ - 1].kind == Tok::kSymbol &&
                        text_[lexed_.tokens[at_ - 1].begin] != '\\';
    if (is(Tok::kUnderscore) && is(Tok::kBraceOpen, 1) && is(Tok::kBraceClose, 2))
      at_ += 3;
    else if (is(Tok::kCaret))
      base = raised(base);
    else if (is(Tok::kUnderscore))
      base = subscripted(base);
    else if (is(Tok::kBang) && is(Tok::kBang, 1))
      base = double_factorial(base);
    else if (take(Tok::kBang))
      base = arena_.call(Fn::kFactorial, {base});
    else if (at_composition(*base))
      break;
    else if (is(Tok::kPercent) && letter)
      return fail("a percent sign after a letter");
    else if (take(Tok::kPercent))
      base = arena_.node(Op::kPercent, {base});
    else if (take(Tok::kDegree))
      base = arena_.node(Op::kDegree, {with_minutes(base)});
    else if (is(Tok::kCurrency))
      base = amount(base, currency(at_++));
    else
      break;
  }
  return base;
}

// Parses 5!! = 5 3 1. Double factorials of names and of large numbers have no value here. Longer
// rows of signs are factorials of factorials.
const Expr* Parser::double_factorial(const Expr* base) {
  constexpr std::int64_t kLargest = 300;
  int signs = 0;
  while (take(Tok::kBang)) ++signs;
  for (; signs > 2; --signs) {
    base = arena_.call(Fn::kFactorial, {base});
    if (signs == 3) return arena_.call(Fn::kFactorial, {arena_.call(Fn::kFactorial, {base})});
  }
  const auto n = base->op == Op::kNumber ? base->value.small_integer() : std::nullopt;
  if (!n || *n < 0 || *n > kLargest)
    return arena_.make({.op = Op::kApply, .name = "!!", .args = {base}});
  exact::Rational out(1);
  for (std::int64_t k = *n; k > 1; k -= 2) out = out * exact::Rational(k);
  return arena_.number(std::move(out));
}

// Parses base ^ exponent. The exponent may be a degree sign or an ordinal ending.
const Expr* Parser::raised(const Expr* base) {
  const bool braced = is(Tok::kBraceOpen, 1);
  const std::size_t inner = braced ? 2 : 1;
  const bool alone = !braced || is(Tok::kBraceClose, 3);
  const std::size_t length = braced ? 4 : 2;
  if (alone && is(Tok::kDegree, inner)) {
    at_ += length;
    return arena_.node(Op::kDegree, {with_minutes(base)});
  }
  if (const Expr* number = ordinal(base)) return number;
  if (is_one_of(base->op, Op::kMatrix, Op::kTuple)) {
    ++at_;
    const Expr* power = exponent();
    const bool turns = power != nullptr && is_one_of(power->op, Op::kSymbol, Op::kText) &&
                       is_one_of(power->name, "T", "t", "top");
    return turns ? transposed(*base) : arena_.power(base, power);
  }
  if (alone && (is(Tok::kText, inner) || is(Tok::kPrime, inner))) {
    at_ += length;
    return base;
  }
  if (const Expr* ion = charged(base)) return ion;
  ++at_;
  const Expr* power = unwrapped(exponent());
  if (power == nullptr) return fail("no exponent");
  const bool turns = power->op == Op::kSymbol &&
                     (power->name == "top" || (power->name == "T" && may_be_matrix(*base)));
  if (turns) return arena_.make({.op = Op::kApply, .name = "transpose", .args = {base}});
  return to_power(base, power, arena_);
}

// Adds the minutes and seconds of 60^\circ 42' 30''.
const Expr* Parser::with_minutes(const Expr* degrees) {
  const auto part = [this](std::size_t marks, std::int64_t size) -> const Expr* {
    for (std::size_t i = 1; i <= marks; ++i)
      if (!is(Tok::kNumber) || !is(Tok::kPrime, i)) return nullptr;
    const exact::Rational& value = lexed_.numbers[tok().number];
    at_ += 1 + marks;
    return arena_.number(value / exact::Rational(size));
  };
  if (degrees == nullptr || degrees->op != Op::kNumber) return degrees;
  const Expr* minutes = part(1, 60);
  if (minutes == nullptr) return degrees;
  const Expr* seconds = is(Tok::kPrime, 2) ? part(2, 3600) : part(1, 3600);
  return seconds == nullptr ? arena_.number(degrees->value + minutes->value, degrees->flag)
                            : arena_.add({degrees, minutes, seconds});
}

// Parses the ending of 5^{th} and 5^th.
const Expr* Parser::ordinal(const Expr* base) {
  const std::size_t inner = is(Tok::kBraceOpen, 1) ? 2 : 1;
  const bool letters = base->op == Op::kNumber && is(Tok::kSymbol, inner) &&
                       is(Tok::kSymbol, inner + 1) && !tok(inner + 1).spaced;
  if (!letters || ordinal_ending(source(at_ + inner, at_ + inner + 2)) == 0) return nullptr;
  if (inner == 2 && !is(Tok::kBraceClose, 4)) return nullptr;
  at_ += 2 * inner + 1;
  return base;
}

// Turns rows into columns. A tuple becomes a column.
const Expr* Parser::transposed(const Expr& matrix) {
  const bool tuple = matrix.op == Op::kTuple;
  const std::size_t columns = tuple ? matrix.args.size() : static_cast<std::size_t>(matrix.columns);
  const std::size_t rows = matrix.args.size() / columns;
  Expr out{.op = Op::kMatrix, .columns = static_cast<std::int32_t>(rows)};
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t row = 0; row < rows; ++row)
      out.args.push_back(matrix.args[row * columns + column]);
  return arena_.make(std::move(out));
}

// Parses the charge of Na^+ and Ca^{2+}, and the sign of \mathbb{R}^+.
const Expr* Parser::charged(const Expr* base) {
  const bool braced = is(Tok::kBraceOpen, 1);
  const std::size_t number = braced && is(Tok::kNumber, 2) ? 2 : 0;
  const std::size_t sign = number > 0 ? 3 : braced ? 2 : 1;
  if ((!is(Tok::kPlus, sign) && !is(Tok::kMinus, sign)) || base->op == Op::kNumber ||
      (braced && !is(Tok::kBraceClose, sign + 1)))
    return nullptr;
  const std::string_view size = number > 0 ? tok(number).name : std::string_view();
  const std::string charge = fmt::format("{}{}", size, is(Tok::kPlus, sign) ? "+" : "-");
  // In x^-1 and x^+y the sign is that of the exponent.
  if (!braced && (is(Tok::kNumber, sign + 1) || is(Tok::kSymbol, sign + 1))) return nullptr;
  at_ += sign + (braced ? 2 : 1);
  return arena_.power(base, arena_.symbol(charge));
}

// Parses a group or signed operand after ^. The text a^b^c is a^(b^c).
const Expr* Parser::exponent() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  bool negative = false;
  while (is(Tok::kMinus) || is(Tok::kPlus)) {
    negative = negative != is(Tok::kMinus);
    ++at_;
  }
  const Expr* base = is(Tok::kBraceOpen) ? fraction_part() : atom();
  if (base != nullptr && is(Tok::kCaret)) base = raised(base);
  return negative ? arena_.negate(base) : base;
}

// Returns the text after an underscore.
std::string Parser::subscript_text() {
  ++at_;
  const std::size_t first = at_;
  if (!take(Tok::kBraceOpen)) {
    const bool plain = is(Tok::kNumber) || (is(Tok::kSymbol) && text_[tok().begin] != '\\');
    const std::string name(plain ? tok().name : text_.substr(tok().begin, tok().end - tok().begin));
    if (!is(Tok::kEnd)) ++at_;
    return normal_name(name);
  }
  for (std::size_t depth = 1; !is(Tok::kEnd); ++at_) {
    if (is(Tok::kBraceOpen)) ++depth;
    if (is(Tok::kBraceClose) && --depth == 0) break;
  }
  std::string name = normal_name(source(first + 1, at_));
  take(Tok::kBraceClose);
  return name;
}

namespace {

// Reads a base written as 16, (16) or sixteen.
std::optional<exact::Rational> radix_of(std::string_view below) {
  if (below.starts_with('(') && below.ends_with(')')) below = below.substr(1, below.size() - 2);
  if (below.starts_with("text")) below.remove_prefix(4);
  if (std::optional<exact::Rational> named = number_in_words(below)) return named;
  return exact::from_decimal(below);
}

// Reads digits from 0 to Z, with a point among them. Returns nothing if the base lacks one.
std::optional<exact::Rational> read_digits(std::string_view digits, const exact::Rational& radix) {
  exact::Rational value(0), place(1);
  bool point = false;
  for (const char c : digits) {
    if (c == '.' && !std::exchange(point, true)) continue;
    const exact::Rational digit(is_digit(c) ? c - '0' : to_upper(c) - 'A' + 10);
    if (!is_letter_or_digit(c) || !(digit < radix)) return std::nullopt;
    value = value * radix + digit;
    if (point) place = place * radix;
  }
  return value / place;
}

}  // namespace

// Makes a number in a base: its value and base, with the digits as its name.
const Expr* Parser::based(std::string_view digits, const std::optional<exact::Rational>& radix) {
  constexpr std::size_t kMostDigits = 600;
  const bool known = radix && radix->is_integer() && exact::Rational(1) < *radix &&
                     *radix < exact::Rational(37) && digits.size() <= kMostDigits;
  std::optional<exact::Rational> value = known ? read_digits(digits, *radix) : std::nullopt;
  if (!value) return fail("digits that are not of this base");
  return arena_.make({.op = Op::kBased,
                      .name = std::string(digits),
                      .args = {arena_.number(std::move(*value)), arena_.number(*radix)}});
}

// Parses 2FA_{16}, FF_{16} and \text{FF}_{16}. Other letters alone are a name, unless they are in
// braces.
const Expr* Parser::lettered_digits() {
  constexpr std::size_t kLongest = 40;
  const bool text = is(Tok::kText);
  if (!text && !is(Tok::kNumber) && !is(Tok::kSymbol)) return nullptr;
  std::string_view digits = text ? trimmed(tok().name) : text_.substr(tok().begin, kLongest);
  const auto is_part = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); };
  const auto* end = std::ranges::find_if_not(digits, is_part);
  if (text && end != digits.end()) return nullptr;
  digits = digits.substr(0, static_cast<std::size_t>(end - digits.begin()));
  std::size_t n = 1;
  while (!text && tok(n).begin < tok().begin + digits.size() && !is(Tok::kEnd, n)) ++n;
  const bool mixed = text || (tok().begin > 0 && text_[tok().begin - 1] == '{') ||
                     std::ranges::any_of(digits, is_digit);
  if (!is(Tok::kUnderscore, n) || std::ranges::none_of(digits, is_letter) ||
      (!mixed && digits.size() == 1))
    return nullptr;
  const std::size_t first = at_;
  at_ += n;
  const std::optional<exact::Rational> radix = radix_of(subscript_text());
  const exact::Rational ten(10), sixteen(16);
  if (radix && (mixed ? ten < *radix : *radix == sixteen) && read_digits(digits, *radix))
    return based(digits, radix);
  at_ = first;
  return nullptr;
}

const Expr* Parser::subscripted(const Expr* base) {
  if (base->op == Op::kPow && base->args[0]->op == Op::kSymbol) {
    const Expr* name = subscripted(base->args[0]);
    return arena_.power(name, base->args[1]);
  }
  const std::string_view digits = lexed_.tokens[at_ - 1].name;
  const std::string below = subscript_text();
  if (below.empty()) return fail("an empty subscript");
  if (base->op == Op::kNumber)
    return based(base->flag ? digits : base->value.text(), radix_of(below));
  if (base->op == Op::kSymbol || base->op == Op::kConstant || base->op == Op::kText)
    return maybe_applied(fmt::format("{}_{}", base->name, below));
  return fail("a subscript on something other than a name");
}

}  // namespace lie::latex
