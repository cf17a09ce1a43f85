#include "verifier/equal/parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "verifier/latex/parser.h"

namespace lie::equal {
namespace {

using expr::Expr, expr::Op;

// The letters of words or of a product of names; empty where it is neither.
std::string letters(const Expr& e) {
  switch (e.op) {
    case Op::kText:
    case Op::kSymbol:
    case Op::kConstant: return latex::normal_text(e.name);
    case Op::kNumber: return e.value.text();
    case Op::kUnit: {
      const std::string inner = letters(*e.args[0]);
      return inner.empty() ? inner : inner + e.name;
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
    default: return {};
  }
}

struct Unit {
  std::string_view spelling, unit;
};

// Spellings of the units that occur beside answers; units that are not here agree with all.
constexpr auto kUnits = std::to_array<Unit>({
    {"cm", "cm"},        {"centimeter", "cm"}, {"centimeters", "cm"},
    {"m", "m"},          {"meter", "m"},       {"meters", "m"},
    {"metres", "m"},     {"mm", "mm"},         {"millimeters", "mm"},
    {"km", "km"},        {"kilometers", "km"}, {"kilometres", "km"},
    {"in", "in"},        {"inch", "in"},       {"inches", "in"},
    {"ft", "ft"},        {"foot", "ft"},       {"feet", "ft"},
    {"mile", "mi"},      {"miles", "mi"},      {"yd", "yd"},
    {"yard", "yd"},      {"yards", "yd"},      {"s", "s"},
    {"sec", "s"},        {"second", "s"},      {"seconds", "s"},
    {"min", "min"},      {"minute", "min"},    {"minutes", "min"},
    {"h", "h"},          {"hr", "h"},          {"hour", "h"},
    {"hours", "h"},      {"hrs", "h"},         {"day", "d"},
    {"days", "d"},       {"week", "wk"},       {"weeks", "wk"},
    {"year", "y"},       {"years", "y"},       {"g", "g"},
    {"gram", "g"},       {"grams", "g"},       {"kg", "kg"},
    {"kilograms", "kg"}, {"cent", "ct"},       {"cents", "ct"},
    {"dollar", "usd"},   {"dollars", "usd"},   {"degrees", "deg"},
    {"degree", "deg"},   {"radians", "rad"},   {"rad", "rad"},
});

std::string_view unit_of(std::string_view spelling) {
  const auto at = std::ranges::find(kUnits, spelling, &Unit::spelling);
  return at == kUnits.end() ? std::string_view() : at->unit;
}

bool one_unit_agrees(std::string_view gold, std::string_view answer) {
  const std::string_view a = unit_of(gold);
  const std::string_view b = unit_of(answer);
  return gold == answer || a.empty() || b.empty() || a == b;
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
  const std::string a = letters(*gold);
  const std::string b = letters(*answer);
  return scalar::tri(!a.empty() && a == b);
}

bool units_agree(std::string_view gold, std::string_view answer) {
  const std::size_t above_gold = gold.find('^');
  const std::size_t above_answer = answer.find('^');
  const bool powers =
      above_gold != std::string_view::npos && above_answer != std::string_view::npos;
  if (powers && gold.substr(above_gold) != answer.substr(above_answer)) return false;
  const auto [gold_top, gold_bottom] = parts_of_rate(gold.substr(0, above_gold));
  const auto [top, bottom] = parts_of_rate(answer.substr(0, above_answer));
  if (!one_unit_agrees(gold_top, top)) return false;
  // A rate is no length: where one side has no part below, the other's must be unknown, too.
  if (gold_bottom.empty() != bottom.empty())
    return unit_of(top).empty() || unit_of(gold_top).empty();
  return one_unit_agrees(gold_bottom, bottom);
}

}  // namespace lie::equal
