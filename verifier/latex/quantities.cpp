// Parses units after numbers: 5 cm, 2 hours 30 minutes, 10 \frac{m}{s}, 25^\circ C.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/text/scan.h"
#include "verifier/latex/measures.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/remarks.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::latex {
namespace {

bool is_numeric(const Expr& e) { return !has_names(e); }

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

// Returns whether a word is a unit that may follow a number without \text: "cm", "minutes".
bool is_unit(std::string_view word) {
  static constexpr auto kUnits = std::to_array<std::string_view>(
      {"Hz",      "acres",  "cents",  "centimeters", "cm",         "cubic",   "days",   "degrees",
       "dollars", "feet",   "foot",   "ft",          "gallons",    "grams",   "hour",   "hours",
       "hrs",     "inch",   "inches", "kg",          "kilometers", "km",      "kmh",    "liters",
       "lbs",     "meters", "metres", "miles",       "min",        "minutes", "ml",     "mm",
       "mph",     "ounces", "pounds", "sec",         "seconds",    "sq",      "square", "units",
       "weeks",   "yards",  "years",  "yuan"});
  return std::ranges::find(kUnits, word) != kUnits.end();
}

}  // namespace

bool names_function(std::string_view text) {
  const Meaning* meaning = command(text);
  return meaning != nullptr && meaning->kind == Tok::kFunction;
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

namespace {

// Returns whether the letters of a unit are more often a product, such as Ah, ly and Mb. They are a
// unit only in \text.
bool may_be_product(std::string_view unit) {
  constexpr std::string_view kEndings[] = {"Ah", "Wh", "b", "ly", "Ly", "bps", "Bps"};
  if (is_one_of(unit, "lb", "kWh", "mAh")) return false;
  return is_one_of(unit, "cc", "psi", "rpm", "KB") ||
         std::ranges::any_of(kEndings, [unit](auto ending) { return unit.ends_with(ending); });
}

}  // namespace

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
  return !may_be_product(unit) && read_unit(unit).has_value();
}

// Returns whether the C of 25^\circ C follows.
bool Parser::at_temperature() const {
  if (is_symbol("C") || is_symbol("F")) return true;
  return is(Tok::kText) && is_one_of(normal_text(tok().name), "c", "f", "celsius", "fahrenheit");
}

// Takes the powers, quotients and products of a unit after its first word.
void Parser::take_unit_parts(bool known) {
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
}

// Gives a value its unit, which is known to read_unit() or a remark. The text is that of the unit.
const Expr* Parser::measured(const Expr* value, std::string unit, std::string_view text) {
  if (const Scale scale = scale_of(unit); scale.factor > 1 && is_numeric(*value)) {
    unit.erase(0, scale.word.size());
    value = multiplied({value, arena_.number(scale.factor)}, arena_);
  }
  if (unit.empty() || value == nullptr) return value;
  // The units of J kg^{-1} in two texts are one, and so are those of \$5 per hour.
  if (value->op == Op::kUnit) {
    for (const std::string_view sign : {"*", ""}) {
      std::string both = value->name + std::string(sign) + unit;
      if (read_unit(value->name) && read_unit(both) && (sign.empty() || read_unit(unit)))
        return arena_.make({.op = Op::kUnit, .name = std::move(both), .args = value->args});
    }
  }
  const bool changes = !read_unit(unit) && !only_describes(text, is_numeric(*value));
  return arena_.make({.op = Op::kUnit, .flag = changes, .name = std::move(unit), .args = {value}});
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
  const std::string written = normal_text(source(first, at_));
  const bool known =
      letters || is_unit(written) ||
      (at_ == first + 1 && is_one_of(written, "h", "hr", "m", "s", "lb", "oz", "in", "yr", "d"));
  take_unit_parts(known);
  std::string name = unit_name(source(first, at_));
  if (name.empty()) return left;
  if (!known && (starts_operand() || is(Tok::kRelation))) return fail("words between mathematics");
  return measured(left, std::move(name), source(first, at_));
}

}  // namespace lie::latex
