// Parses sums, products, juxtaposition, powers, units and signs after an operand.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/text/scan.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::latex {
namespace {

bool is_plain_number(const Expr* e) { return e != nullptr && e->op == Op::kNumber && !e->flag; }

bool is_numeric(const Expr& e) { return !has_names(e); }

// Returns whether a text is a function, as \text{sin} is. The text C is no set, unlike \C.
bool names_function(std::string_view text) {
  const Meaning* meaning = command(text);
  return meaning != nullptr && meaning->kind == Tok::kFunction;
}

/// A word at the front of a unit, such as "million", and its factor.
struct Scale {
  std::string_view word;
  std::int64_t factor = 1;
};

Scale scale_of(std::string_view unit) {
  for (const Scale& scale : {Scale{"thousand", 1'000}, Scale{"million", 1'000'000},
                             Scale{"billion", 1'000'000'000}, Scale{"trillion", 1'000'000'000'000},
                             Scale{"dozen", 12}, Scale{"万", 10'000}, Scale{"亿", 100'000'000}}) {
    if (unit.starts_with(scale.word) && !unit.substr(scale.word.size()).starts_with("th"))
      return scale;
  }
  return {};
}

bool is_capital(const Expr& e) {
  return e.op == Op::kSymbol && e.name.size() == 1 && e.name[0] >= 'A' && e.name[0] <= 'Z';
}

// Returns whether a factor may be a matrix, if another factor certainly is one.
bool may_be_matrix(const Expr& e) {
  if (e.has(expr::trait::kOrdered) || is_capital(e)) return true;
  return e.op == Op::kPow && may_be_matrix(*e.args[0]);
}

// Returns the element of a set that has only one: braces group in 2\{x + 1\}.
const Expr* unwrapped(const Expr* e) {
  while (e != nullptr && e->op == Op::kSet && e->args.size() == 1) e = e->args.front();
  return e;
}

// Returns whether a word is a unit that may follow a number without \text: "cm", "minutes".
bool is_unit(std::string_view word) {
  static constexpr auto kUnits = std::to_array<std::string_view>(
      {"Hz",      "acres",  "cents",  "centimeters", "cm",         "cubic",   "days",  "degrees",
       "dollars", "feet",   "foot",   "ft",          "gallons",    "grams",   "hour",  "hours",
       "hrs",     "inch",   "inches", "kg",          "kilometers", "km",      "kmh",   "liters",
       "lbs",     "meters", "metres", "miles",       "min",        "minutes", "ml",    "mm",
       "mph",     "ounces", "pounds", "sec",         "seconds",    "square",  "units", "weeks",
       "yards",   "years",  "yuan"});
  return std::ranges::find(kUnits, word) != kUnits.end();
}

}  // namespace

const Expr* Parser::sum() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  const Expr* first = signed_product();
  std::vector<const Expr*> terms = {first};
  while (terms.back() != nullptr && !(terms.size() == 1 && parts_from_set(*first)) &&
         (is(Tok::kPlus) || is(Tok::kMinus) || is(Tok::kPlusMinus) || is(Tok::kMinusPlus))) {
    terms.push_back(signed_product());
  }
  if (terms.back() == nullptr) return nullptr;
  if (terms.size() == 1) return first;
  return arena_.add(std::move(terms));
}

// Parses a product and the plus-minus sign before it.
const Expr* Parser::signed_product() {
  if (!is(Tok::kPlusMinus) && !is(Tok::kMinusPlus)) return product();
  const bool minus_first = is(Tok::kMinusPlus);
  ++at_;
  return arena_.make({.op = Op::kPlusMinus, .flag = minus_first, .args = {product()}});
}

const Expr* Parser::product() {
  const Expr* left = operand();
  for (const Expr* next = left; next != nullptr; next = product_step(left)) left = next;
  return error_.reason.empty() ? left : nullptr;
}

// Parses one more operator and operand after `left`. Returns nullptr if the product ends or
// fails.
const Expr* Parser::product_step(const Expr* left) {
  if (arena_.budget().exhausted()) return nullptr;
  const Token& sign = tok();
  if (sign.kind == Tok::kColon && !colon_is_ratio_) return nullptr;
  const bool composes = sign.kind == Tok::kDegree && at_composition(*left);
  if (!composes &&
      !is_one_of(sign.kind, Tok::kTimes, Tok::kDivide, Tok::kMod, Tok::kColon, Tok::kOperation))
    return nullptr;
  const std::size_t at = at_++;
  if (sign.kind == Tok::kDivide && is_plain_number(left) && is(Tok::kNumber) && !tok(0).decimal) {
    // In 1/2 x the two numbers are a fraction before anything is multiplied.
    const Expr* quotient = arena_.divide(left, power_or_postfix());
    const bool unit = is(Tok::kText) || is(Tok::kSymbol) || is(Tok::kWord);
    if (const Expr* quantity = unit ? unit_after(quotient) : nullptr) return quantity;
    if (!error_.reason.empty() || !starts_operand()) return quotient;
    return arena_.mul({quotient, implicit_run()});
  }
  const Expr* right = operand();
  if (right == nullptr) return fail("nothing follows an operator");
  if (composes) return operation("∘", left, right);
  if (sign.kind == Tok::kOperation) return operation(sign.name, left, right);
  if (sign.kind == Tok::kTimes && is_cross(at, *left, *right)) return operation("×", left, right);
  if (sign.kind == Tok::kTimes && right->op == Op::kUnit && is_numeric(*left))
    return arena_.make(
        {.op = Op::kUnit, .name = right->name, .args = {arena_.mul({left, right->args[0]})}});
  if (sign.kind == Tok::kTimes) return product_of({left, right});
  if (sign.kind == Tok::kDivide) return arena_.divide(left, right);
  if (sign.kind == Tok::kMod) return arena_.call(Fn::kMod, {left, right});
  std::vector<const Expr*> parts =
      left->op == Op::kRatio ? left->args : std::vector<const Expr*>{left};
  // In 8:34 p.m. the unit belongs to the whole ratio.
  const bool unit = right->op == Op::kUnit;
  parts.push_back(unit ? right->args[0] : right);
  const Expr* ratio = arena_.node(Op::kRatio, std::move(parts));
  return unit ? arena_.make({.op = Op::kUnit, .name = right->name, .args = {ratio}}) : ratio;
}

const Expr* Parser::operand() {
  bool negative = false;
  while (is(Tok::kPlus) || is(Tok::kMinus)) {
    negative = negative != is(Tok::kMinus);
    ++at_;
    if (!enter()) return nullptr;
  }
  const Expr* run = implicit_run();
  return negative ? arena_.negate(run) : run;
}

// Parses factors side by side: 2 x y, 3 \sqrt 2, (a)(b), 5 cm.
const Expr* Parser::implicit_run() {
  std::vector<const Expr*> factors;
  const bool quotient = is(Tok::kSymbol) && is(Tok::kDivide, 2);
  const Expr* first = quotient ? inline_derivative() : nullptr;
  if (first == nullptr) first = power_or_postfix();
  if (first == nullptr) return nullptr;
  factors.push_back(first);
  bool numeric = is_numeric(*first);
  while (true) {
    const bool unit = is(Tok::kText) || (numeric && (is(Tok::kSymbol) || is(Tok::kWord)));
    const bool second =
        factors.size() == 2 && factors[0]->op == Op::kUnit && is_numeric(*factors[1]);
    const Expr* measured = second ? factors[1] : arena_.mul(factors);
    if (const Expr* with_unit = unit ? unit_after(measured) : nullptr) {
      factors = {second ? quantity_sum(*factors[0], *with_unit) : with_unit};
      if (factors[0] == nullptr) return nullptr;
      continue;
    }
    if (!error_.reason.empty()) return nullptr;
    if (!starts_operand()) break;
    if (is(Tok::kNumber) && lexed_.tokens[at_ - 1].kind == Tok::kNumber)
      return fail("two numbers side by side");
    const Expr* next = power_or_postfix();
    if (next == nullptr) return nullptr;
    factors.push_back(next);
    numeric = numeric && is_numeric(*next);
  }
  if (factors.size() == 1) return factors.front();
  for (const Expr*& factor : factors) factor = unwrapped(factor);
  return product_of(std::move(factors));
}

// Returns whether a degree sign after a name composes functions, as in f \circ g.
bool Parser::at_composition(const Expr& left) const {
  return is(Tok::kDegree) && has_names(left) &&
         is_one_of(tok(1).kind, Tok::kSymbol, Tok::kOpen, Tok::kFunction, Tok::kAccent, Tok::kWord,
                   Tok::kBraceOpen, Tok::kOperatorName);
}

const Expr* Parser::operation(std::string_view sign, const Expr* left, const Expr* right) {
  return arena_.make({.op = Op::kApply, .name = std::string(sign), .args = {left, right}});
}

// Returns whether the sign at a token is that of the product of vectors or sets. A \times B alone
// may be one of sets.
bool Parser::is_cross(std::size_t at, const Expr& left, const Expr& right) const {
  const std::string_view sign = source(at, at + 1);
  if (sign != "\\times" && sign != "×") return false;
  const auto is_set = [](const Expr& e) {
    return is_one_of(e.op, Op::kNamedSet, Op::kSet, Op::kTuple, Op::kUnion);
  };
  if (is_set(left) && is_set(right)) return true;
  if (left.has(expr::trait::kVector) && right.has(expr::trait::kVector)) return true;
  return is_capital(left) && is_capital(right) && at == element_first_ + 1 && ends_element(0);
}

// Multiplies factors. Matrices keep their order.
const Expr* Parser::product_of(std::vector<const Expr*> factors) {
  const auto ordered = [](const Expr* e) { return e != nullptr && e->has(expr::trait::kOrdered); };
  if (std::ranges::none_of(factors, ordered)) return arena_.mul(std::move(factors));
  Expr matrices{.op = Op::kApply, .name = "·"};
  std::vector<const Expr*> numbers;
  const auto sort_in = [&](const Expr* factor) {
    if (factor->op == Op::kApply && factor->name == "·")
      matrices.args.insert(matrices.args.end(), factor->args.begin(), factor->args.end());
    else
      (may_be_matrix(*factor) ? matrices.args : numbers).push_back(factor);
  };
  for (const Expr* factor : factors) {
    if (factor == nullptr) return nullptr;
    if (factor->op == Op::kMul)
      std::ranges::for_each(factor->args, sort_in);
    else
      sort_in(factor);
  }
  if (matrices.args.size() < 2) return arena_.mul(std::move(factors));
  numbers.push_back(arena_.make(std::move(matrices)));
  return arena_.mul(std::move(numbers));
}

// Adds 2 hours and 30 minutes in units of the second quantity.
const Expr* Parser::quantity_sum(const Expr& first, const Expr& second) {
  const std::optional<Unit> a = read_unit(first.name), b = read_unit(second.name);
  if (second.op != Op::kUnit || !a || !b || a->powers != b->powers)
    return fail("two quantities side by side");
  const Expr* value = arena_.add(
      {arena_.mul({arena_.number(a->factor / b->factor), first.args[0]}), second.args[0]});
  return arena_.make({.op = Op::kUnit, .name = second.name, .args = {value}});
}

// Takes the power of a unit, as in cm^2 and s^{-1}.
void Parser::take_unit_power() {
  if (!is(Tok::kCaret)) return;
  const std::size_t braced = is(Tok::kBraceOpen, 1) ? 1 : 0;
  const std::size_t minus = is(Tok::kMinus, 1 + braced) ? 1 : 0;
  const std::size_t digits = 1 + braced + minus;
  if (!is(Tok::kNumber, digits) || (braced == 1 && !is(Tok::kBraceClose, digits + 1))) return;
  at_ += digits + 1 + braced;
}

// Returns the number of tokens of the letters without spaces between them that follow.
std::size_t Parser::letters_ahead(std::size_t ahead) const {
  std::size_t n = 0;
  while (is(Tok::kSymbol, ahead + n) && (n == 0 || !tok(ahead + n).spaced) &&
         text_[tok(ahead + n).begin] != '\\')
    ++n;
  return n;
}

// Returns whether letters after a space are a unit: 5 mW, 3 m. A single letter is one only if it
// seldom names a variable.
bool Parser::is_unit_of_letters(std::size_t n) const {
  const std::string_view unit = source(at_, at_ + n);
  const bool more =
      is(Tok::kSymbol, n) && tok(n).spaced &&
      read_unit(source(at_ + n, at_ + n + std::max<std::size_t>(letters_ahead(n), 1)));
  const bool power = is(Tok::kCaret, n) && n > 1;
  if (!tok().spaced || nesting_ > 1 ||
      !(more || power || ends_element(n) ||
        is_one_of(tok(n).kind, Tok::kPeriod, Tok::kDivide, Tok::kTimes, Tok::kText,
                  Tok::kBraceClose)))
    return false;
  if (n == 1) return is_one_of(unit, "m", "g", "J", "W", "L");
  return read_unit(unit).has_value();
}

// Returns whether the C of 25^\circ C follows.
bool Parser::at_temperature() const {
  if (is_symbol("C") || is_symbol("F")) return true;
  return is(Tok::kText) && is_one_of(normal_text(tok().name), "c", "f", "celsius", "fahrenheit");
}

// Parses a unit or remark after an operand. Returns nullptr if there is none.
const Expr* Parser::unit_after(const Expr* left) {
  if (left == nullptr) return nullptr;
  const std::size_t first = at_;
  if (is(Tok::kText) && !tok().name.empty() && !in_text(tok().name)) {
    std::string unit(tok().name);
    ++at_;
    return arena_.make({.op = Op::kUnit, .name = std::move(unit), .args = {left}});
  }
  const bool temperature = left->op == Op::kDegree && is_numeric(*left) && at_temperature();
  if (temperature) {
    const bool celsius = normal_text(source(at_, at_ + 1)).starts_with('c');
    ++at_;
    return arena_.make(
        {.op = Op::kUnit, .name = celsius ? "celsius" : "fahrenheit", .args = {left->args[0]}});
  }
  bool letters = false;
  if (is(Tok::kText) && !at_separator() && !names_function(tok().name)) {
    ++at_;
    if (is_symbol("Omega")) ++at_;
  } else if (is_numeric(*left)) {
    const std::size_t n = letters_ahead(0);
    letters = n > 0 && (is_unit(source(at_, at_ + n)) || is_unit_of_letters(n));
    if (letters)
      at_ += n;
    else
      while (is(Tok::kWord)) ++at_;
  }
  if (at_ == first) return nullptr;
  const bool known = letters || is_unit(normal_text(source(first, at_)));
  take_unit_power();
  const bool by_letter = known && (is_symbol("h", 1) || is_symbol("s", 1));
  if (is(Tok::kDivide) && (is(Tok::kWord, 1) || by_letter)) {
    at_ += 2;
    take_unit_power();
  }
  while (known) {
    const std::size_t sign = is(Tok::kDivide) || is(Tok::kTimes) ? 1 : 0;
    const std::size_t n = sign == 1 || tok().spaced ? letters_ahead(sign) : 0;
    if (n == 0 || !read_unit(source(at_ + sign, at_ + sign + n))) break;
    at_ += sign + n;
    take_unit_power();
  }
  while (is(Tok::kText, 1) &&
         (is(Tok::kDivide) || (is(Tok::kTimes) && !names_function(tok(1).name)))) {
    at_ += 2;
    take_unit_power();
  }
  std::string name = unit_name(source(first, at_));
  if (name.empty()) return left;
  if (!known && (starts_operand() || is(Tok::kRelation))) return fail("words between mathematics");
  if (const Scale scale = scale_of(name); scale.factor > 1 && is_numeric(*left)) {
    name.erase(0, scale.word.size());
    left = arena_.mul({left, arena_.number(scale.factor)});
  }
  return name.empty() ? left
                      : arena_.make({.op = Op::kUnit, .name = std::move(name), .args = {left}});
}

bool Parser::starts_bar_operand() const {
  if (in_set_ && open_bars_ == 0) return false;
  if (open_bars_ == 0) return true;
  if (!bars_nest_) return false;
  return is(Tok::kNumber, 1) || is(Tok::kSymbol, 1) || is(Tok::kConstant, 1) ||
         is(Tok::kFunction, 1);
}

bool Parser::starts_operand() const {
  const Tok kind = tok().kind;
  if (kind == Tok::kOpen) return !at_bracketed_modulus();
  if (kind == Tok::kText) return names_function(tok().name);
  if (kind == Tok::kBar || kind == Tok::kDoubleBar) return starts_bar_operand();
  return is_one_of(kind, Tok::kNumber, Tok::kSymbol, Tok::kWord, Tok::kConstant, Tok::kFunction,
                   Tok::kNamedSet, Tok::kBraceOpen, Tok::kFrac, Tok::kSqrt, Tok::kBinom,
                   Tok::kBoxed, Tok::kAccent, Tok::kOperatorName, Tok::kSum, Tok::kProd,
                   Tok::kBegin, Tok::kDots, Tok::kCurrency);
}

// --- powers ----------------------------------------------------------------------------------

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
  return arena_.power(base, power);
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
  for (std::size_t depth = 1; depth > 0; ++at_) {
    if (is(Tok::kEnd)) break;
    if (is(Tok::kBraceOpen)) ++depth;
    if (is(Tok::kBraceClose)) --depth;
  }
  return normal_name(source(first, at_));
}

namespace {

// Reads a base written as 16 or sixteen.
std::optional<exact::Rational> radix_of(std::string_view below) {
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

// Parses 2FA_{16} and \text{FF}_{16}. Letters alone are a name, unless they are in braces.
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
  if (!mixed || !is(Tok::kUnderscore, n) || std::ranges::none_of(digits, is_letter)) return nullptr;
  const std::size_t first = at_;
  at_ += n;
  const std::optional<exact::Rational> radix = radix_of(subscript_text());
  if (radix && exact::Rational(10) < *radix && read_digits(digits, *radix))
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
