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

/// A word at the front of a unit, such as "million" and "tenths", and its factor top / bottom.
struct Scale {
  std::string_view word;
  std::int64_t top = 1, bottom = 1;
};

constexpr auto kScales = std::to_array<Scale>({
    {"hundred", 100},       {"thousand", 1'000},
    {"million", 1'000'000}, {"billion", 1'000'000'000},
    {"bn", 1'000'000'000},  {"trillion", 1'000'000'000'000},
    {"lakh", 100'000},      {"crore", 10'000'000},
    {"dozen", 12},          {"百", 100},
    {"千", 1'000},          {"万", 10'000},
    {"亿", 100'000'000},    {"‰", 1, 1'000},
    {"halves", 1, 2},       {"thirds", 1, 3},
    {"fourths", 1, 4},      {"fifths", 1, 5},
    {"sixths", 1, 6},       {"sevenths", 1, 7},
    {"eighths", 1, 8},      {"ninths", 1, 9},
    {"tenths", 1, 10},      {"twelfths", 1, 12},
    {"hundredths", 1, 100}, {"thousandths", 1, 1'000},
});

// Returns the scale at the front of a unit. The tenths place is no scale.
Scale scale_of(std::string_view unit) {
  if (read_unit(unit)) return {};  // 千克 is a kilogram
  for (const Scale& scale : kScales) {
    const std::string_view rest = unit.substr(std::min(scale.word.size(), unit.size()));
    if (unit.starts_with(scale.word) && !rest.starts_with("th") && !rest.starts_with("place"))
      return scale;
  }
  return {};
}

/// A part that words add to a value. The last word ends them in a text.
struct AddedPart {
  std::string_view words, last;
  std::int64_t bottom = 1;
};

constexpr AddedPart kAddedParts[] = {
    {"andahalf", "half", 2}, {"andathird", "third", 3}, {"andaquarter", "quarter", 4}};

// Removes words from the front of a unit, and from its text up to the end of their last one. The
// ending of a plural is removed as well.
void drop_words(std::string& unit, std::string_view& text, std::size_t length,
                std::string_view last) {
  unit.erase(0, length);
  const std::size_t at = text.find(last);
  text.remove_prefix(at == text.npos ? 0 : at + last.size());
  if (!text.starts_with('s') || (text.size() > 1 && is_letter(text[1]))) return;
  text.remove_prefix(1);
  unit.erase(0, 1);
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
  text = text.substr(0, text.find_last_not_of(' ') + 1);  // in front, a space parts a unit: 5 sec
  const Meaning* meaning = command(text);
  return text == "cis" || (meaning != nullptr && meaning->kind == Tok::kFunction);
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
  constexpr std::string_view kEndings[] = {"Ah", "Wh", "b",  "ly", "Ly", "bps", "Bps",
                                           "M",  "pc", "Da", "Gy", "Sv", "Bq",  "yr"};
  if (is_one_of(unit, "lb", "kWh", "mAh", "yr")) return false;
  return is_one_of(unit, "cc", "psi", "rpm", "KB", "AU", "gm") ||
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

namespace {

// Returns the length of the unit in a text such as "\text{ cm tall", or 0 if no words follow it.
std::size_t unit_before_remark(std::string_view text) {
  constexpr std::size_t kLongest = 60;  // bytes
  const std::size_t brace = text.starts_with('\\') ? text.find('{') + 1 : 0;
  const std::size_t first = text.find_first_not_of(" ~", brace);
  std::size_t length = 0;
  for (std::size_t space = text.find(' ', first); space < text.size();
       space = text.find(' ', space + 1)) {
    const std::string_view head = text.substr(first, space - first);
    // In "5 in total" no inches are meant.
    if (head.size() > kLongest || head.find('}') != head.npos || head == "in") break;
    if (head.ends_with(" in")) continue;
    const bool more = std::ranges::any_of(text.substr(space), is_letter);
    if (more && read_unit(unit_name(head))) length = space;
  }
  return length;
}

}  // namespace

// Takes the words of a scale from the front of a unit and of its text: 5 million, 3 tenths, 2 and a
// half, 5 squared.
const Expr* Parser::scaled(const Expr* value, std::string& unit, std::string_view& text) {
  if (const Scale scale = scale_of(unit); !scale.word.empty()) {
    drop_words(unit, text, scale.word.size(), scale.word);
    return multiplied({value, arena_.number(exact::Rational(scale.top, scale.bottom))}, arena_);
  }
  for (const AddedPart& part : kAddedParts) {
    if (!unit.starts_with(part.words)) continue;
    drop_words(unit, text, part.words.size(), part.last);
    return arena_.add({value, arena_.number(exact::Rational(1, part.bottom))});
  }
  if (unit != "squared" && unit != "cubed") return value;
  return arena_.power(value, arena_.number(std::exchange(unit, {}) == "squared" ? 2 : 3));
}

// Gives a value its unit, which is known to read_unit() or a remark. The text is that of the unit.
const Expr* Parser::measured(const Expr* value, std::string unit, std::string_view text) {
  if (is_numeric(*value)) value = scaled(value, unit, text);
  if (unit.empty() || value == nullptr) return value;
  // The units of J kg^{-1} in two texts are one, and so are those of \$5 per hour.
  if (value->op == Op::kUnit) {
    for (const std::string_view sign : {"*", ""}) {
      std::string both = value->name + std::string(sign) + unit;
      if (read_unit(value->name) && read_unit(both) && (sign.empty() || read_unit(unit)))
        return arena_.make({.op = Op::kUnit, .name = std::move(both), .args = value->args});
    }
  }
  const std::size_t split = read_unit(unit) ? 0 : unit_before_remark(text);
  if (split > 0 && unit == unit_name(text)) {
    value = measured(value, unit_name(text.substr(0, split)), text.substr(0, split));
    text.remove_prefix(split);
    return value == nullptr ? nullptr : measured(value, unit_name(text), text);
  }
  const bool changes = !read_unit(unit) && !only_describes(text, is_numeric(*value));
  return arena_.make({.op = Op::kUnit, .flag = changes, .name = std::move(unit), .args = {value}});
}

// Returns whether a unit in brackets follows: 5\ [\text{cm}].
bool Parser::at_bracketed_unit() const {
  return (is_open('[') || is_open('(')) && is(Tok::kText, 1) && is(Tok::kClose, 2) &&
         read_unit(unit_name(tok(1).name));
}

// Parses the base of 15\text{ (base 8)}. Returns nullptr if there is none.
const Expr* Parser::base_after(const Expr& number) {
  if (number.op != Op::kNumber || !is(Tok::kText) || at_ == 0) return nullptr;
  const std::string words = normal_text(tok().name);
  std::string_view radix = words;
  lie::take(radix, "in");
  if (!lie::take(radix, "base")) return nullptr;
  std::optional<exact::Rational> value = number_in_words(radix);
  if (!value) value = exact::from_decimal(radix);
  if (!value) return nullptr;
  const std::string_view digits = lexed_.tokens[at_++ - 1].name;
  return based(number.flag ? digits : number.value.text(), value);
}

// Moves the prefix of \mu\text{m} from the value to the unit.
const Expr* Parser::without_prefix(const Expr* value, std::string& unit) {
  const bool micro = value->op == Op::kMul && value->args.back()->op == Op::kSymbol &&
                     value->args.back()->name == "mu" && read_unit("mu" + unit);
  if (!micro) return value;
  unit.insert(0, "mu");
  return arena_.mul({value->args.begin(), value->args.end() - 1});
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
  if (at_bracketed_unit() && is_numeric(*left)) {
    at_ += 3;
    const std::string_view unit = lexed_.tokens[first + 1].name;
    return measured(left, unit_name(unit), unit);
  }
  if (const Expr* number = base_after(*left)) return number;
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
  left = without_prefix(left, name);
  return measured(left, std::move(name), source(first, at_));
}

}  // namespace lie::latex
