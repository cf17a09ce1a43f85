#include "verifier/equal/parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "verifier/latex/lexer/token.h"
#include "verifier/latex/text.h"

namespace lie::equal {
namespace {

using expr::Expr, expr::Op;

std::string hyphenated(const Expr& first, const Expr& rest);

// The letters of words or of a product of names; empty where it is neither.
std::string letters(const Expr& e) {
  switch (e.op) {
    case Op::kText:
    case Op::kSymbol:
    case Op::kConstant: return latex::normal_text(e.name);
    case Op::kNumber: return e.value.text();
    case Op::kUnit: {
      const std::string inner = letters(*e.args[0]);
      return inner.empty() || e.name == "$" ? inner : inner + e.name;
    }
    case Op::kMul: {
      std::string out;
      for (const Expr* arg : e.args) {
        const std::string part = letters(*arg);
        if (part.empty()) return {};
        out += part;
      }
      return out;
    }
    case Op::kAdd: return e.args.size() == 2 ? hyphenated(*e.args[0], *e.args[1]) : std::string();
    default: return {};
  }
}

// y-axis, which reads as a difference.
std::string hyphenated(const Expr& first, const Expr& rest) {
  const bool minus_word = rest.op == Op::kMul && rest.args.size() == 2 &&
                          rest.args[0]->op == Op::kNumber && rest.args[0]->value.text() == "-1" &&
                          rest.args[1]->op == Op::kText;
  const std::string start = letters(first);
  return minus_word && !start.empty() ? start + "-" + letters(*rest.args[1]) : std::string();
}

// Whole numbers in digits, one wording of two, and without "only".
std::string usual(std::string words) {
  constexpr std::string_view kOnly = "only";
  if (words.size() > kOnly.size() && words.ends_with(kOnly))
    words.resize(words.size() - kOnly.size());
  if (words == "dne" || words == "thelimitdoesnotexist") return "doesnotexist";
  const std::optional<int> number = latex::number_in_words(words);
  return number ? std::to_string(*number) : words;
}

// The units that occur beside answers, each with all its spellings; units that are not here agree
// with all.
constexpr auto kUnits = std::to_array<std::string_view>({
    "mm millimeter millimeters millimetre millimetres 毫米",
    "cm centimeter centimeters centimetre centimetres 厘米",
    "m meter meters metre metres 米",
    "km kilometer kilometers kilometre kilometres 千米 公里",
    "in inch inches",
    "ft foot feet",
    "yd yard yards",
    "mi mile miles",
    "ms millisecond milliseconds",
    "s sec second seconds 秒",
    "min minute minutes 分钟",
    "h hr hrs hour hours 小时",
    "day days 天",
    "week weeks",
    "month months",
    "year years 年",
    "a.m am",
    "p.m pm",
    "mg milligram milligrams",
    "g gram grams 克",
    "kg kilogram kilograms 千克 公斤",
    "ton tons tonne tonnes 吨",
    "oz ounce ounces",
    "lb lbs pound pounds",
    "ml milliliter milliliters millilitre millilitres 毫升",
    "l liter liters litre litres 升",
    "pint pints",
    "quart quarts",
    "gal gallon gallons",
    "cent cents",
    "$ dollar dollars usd",
    "euro euros",
    "元",
    "角",
    "degree degrees",
    "rad radian radians",
    "c celsius",
    "f fahrenheit",
    "k kelvin",
    "hz",
    "khz",
    "mhz",
    "n newton newtons",
    "j joule joules",
    "kj",
    "w watt watts",
    "kw",
    "v volt volts",
    "mol",
});

// Its row in the table; empty where it is in none.
std::string_view unit_of(std::string_view spelling) {
  for (std::string_view row : kUnits) {
    for (std::string_view left = row; !left.empty();) {
      const std::size_t end = std::min(left.find(' '), left.size());
      if (left.substr(0, end) == spelling) return row;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  return {};
}

// cm^2, square centimeters: a unit and its power, 0 where none is written.
struct Measure {
  std::string_view unit;
  char power = 0;
};

Measure measure(std::string_view text) {
  struct Prefix {
    std::string_view word;
    char power;
  };
  const std::size_t above = text.find('^');
  if (above != std::string_view::npos) return {text.substr(0, above), text.back()};
  for (const auto& [word, power] : {Prefix{"square", '2'}, Prefix{"sq", '2'}, Prefix{"平方", '2'},
                                    Prefix{"cubic", '3'}, Prefix{"立方", '3'}}) {
    const std::string_view unit = text.substr(std::min(word.size(), text.size()));
    if (text.starts_with(word) && unit.size() > 1 && (unit == "units" || !unit_of(unit).empty()))
      return {unit, power};
  }
  return {text};
}

bool measures_agree(const Measure& gold, const Measure& answer) {
  if (gold.power != 0 && answer.power != 0 && gold.power != answer.power) return false;
  const std::string_view a = unit_of(gold.unit), b = unit_of(answer.unit);
  return gold.unit == answer.unit || a.empty() || b.empty() || a == b;
}

// miles per hour, km/h: what stands above and below; below is empty where there is no such part.
std::pair<std::string_view, std::string_view> parts_of_rate(std::string_view unit) {
  if (unit == "mph") return {"miles", "hour"};
  if (unit == "kmh" || unit == "kph") return {"km", "hour"};
  for (const std::string_view sign : {"/", "per"}) {
    const std::size_t at = unit.find(sign);
    if (at != std::string_view::npos && at > 0)
      return {unit.substr(0, at), unit.substr(at + sign.size())};
  }
  return {unit, {}};
}

}  // namespace

Tri equal_texts(const Expr* gold, const Expr* answer) {
  const std::string a = usual(letters(*gold));
  const std::string b = usual(letters(*answer));
  return scalar::tri(!a.empty() && a == b);
}

bool same_known_unit(std::string_view a, std::string_view b) {
  return !unit_of(a).empty() && unit_of(a) == unit_of(b);
}

bool units_agree(std::string_view gold, std::string_view answer) {
  const auto [gold_top, gold_bottom] = parts_of_rate(gold);
  const auto [top, bottom] = parts_of_rate(answer);
  if (!measures_agree(measure(gold_top), measure(top))) return false;
  // A rate is no length: where one side has no part below, the other's must be unknown, too. But
  // the sign \$ does not say what is paid for.
  if (gold_bottom.empty() != bottom.empty())
    return unit_of(top).empty() || unit_of(gold_top).empty() || gold == "$" || answer == "$";
  const Measure below = measure(bottom), gold_below = measure(gold_bottom);
  return below.power == gold_below.power && measures_agree(gold_below, below);
}

}  // namespace lie::equal
