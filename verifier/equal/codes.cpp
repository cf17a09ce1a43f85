// Compares dates, times, ranges and codes, which are no formulas.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/scan.h"
#include "verifier/equal/comparer.h"
#include "verifier/latex/forms.h"
#include "verifier/latex/units.h"

namespace lie::equal {
namespace {

using latex::Sort;

// Returns whether two codes are the same six or more hexadecimal digits, as ff0000 and FF0000 are.
bool is_same_color(std::string_view a, std::string_view b) {
  constexpr std::size_t kShortest = 6;
  const auto hexadecimal = [](char c) {
    return is_digit(c) || (to_upper(c) >= 'A' && to_upper(c) <= 'F');
  };
  return a.size() >= kShortest && std::ranges::all_of(a, hexadecimal) &&
         std::ranges::any_of(a, is_digit) && lowered(a) == lowered(b);
}

// Returns the letters and digits of a name or a product of names, such as B_0 and H_2O. Returns
// nothing for anything else.
std::string spelled(const Expr& e) {
  std::string out;
  if (e.op == Op::kMul) {
    for (const Expr* arg : e.args) {
      const std::string part = spelled(*arg);
      if (part.empty()) return {};
      out += part;
    }
  } else if (is_one_of(e.op, Op::kSymbol, Op::kConstant)) {
    out = e.name;
    std::erase(out, '_');
  } else if (e.op == Op::kBased) {
    out = e.name;
  } else if (e.op == Op::kNumber && e.value.is_integer()) {
    out = e.value.text();
  }
  return out;
}

// Returns whether a number or ratio is a time of day without its half: 8:34 for 20:34.
bool reads_as_time(const Expr& e, std::string_view time) {
  const std::vector<const Expr*> parts = e.op == Op::kRatio ? e.args : std::vector{&e};
  std::array<int, 3> numbers = {};
  if (parts.size() > numbers.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto n = parts[i]->op == Op::kNumber ? parts[i]->value.small_integer() : std::nullopt;
    if (!n || *n < 0 || *n > 60) return false;
    numbers[i] = static_cast<int>(*n);
  }
  return latex::is_clock_reading(time, numbers[0], numbers[1], numbers[2]);
}

// Returns whether a quantity is no time, as 5 nm and 5 apples are not.
bool is_other_unit(const Expr& e) {
  constexpr std::string_view kOfTimes[] = {"clock", "morning", "noon", "evening",
                                           "night", "time",    "uhr"};
  if (e.op != Op::kUnit) return false;
  if (const std::optional<latex::Unit> unit = latex::read_unit(e.name))
    return !unit->is(latex::Base::kTime) && !unit->is(latex::Base::kForenoon) &&
           !unit->is(latex::Base::kAfternoon);
  const std::string words = lowered(e.name);
  return std::ranges::none_of(
      kOfTimes, [&](std::string_view word) { return words.find(word) != words.npos; });
}

// Returns the 5 pm of a time as picometers if the quantity is a length, and otherwise nullptr.
const Expr* as_picometers(const Expr& time, const Expr& quantity, Arena& arena) {
  const std::optional<latex::Unit> unit = latex::read_unit(quantity.name);
  const std::optional<exact::Rational> hour = exact::from_decimal(time.name.substr(0, 2));
  if (!unit || !hour || !unit->is(latex::Base::kLength) || !time.name.ends_with(":00"))
    return nullptr;
  const exact::Rational noon(12);
  return arena.make({.op = Op::kUnit,
                     .name = "picometer",
                     .args = {arena.number(noon < *hour ? *hour - noon : *hour)}});
}

bool is_sort(const Expr& e, Sort sort) { return e.open == static_cast<char>(sort); }

}  // namespace

// Two codes are equal only as they are written. A date in figures may have either order.
Tri Comparer::codes(const Expr* gold, const Expr* answer) {
  if (gold->open != answer->open) return Tri::kNo;
  if (gold->name == answer->name || is_same_color(gold->name, answer->name)) return Tri::kYes;
  const bool dates = is_sort(*gold, Sort::kDate);
  return dates && latex::may_be_same_date(gold->name, answer->name) ? Tri::kUnknown : Tri::kNo;
}

// The code B0 may be written as the name B_0, and IV as i v. A time of day may lack its half: 8:34
// for 20:34.
Tri Comparer::code_and_name(const Expr* gold, const Expr* answer) {
  if (is_sort(*gold, Sort::kTime) && is_other_unit(*answer)) {
    const Expr* length = as_picometers(*gold, *answer, arena_);
    return length == nullptr ? Tri::kNo : units(length, answer);
  }
  if (answer->op == Op::kUnit) return units(gold, answer);
  if (is_sort(*gold, Sort::kTime)) return scalar::tri(reads_as_time(*answer, gold->name));
  if (!is_sort(*gold, Sort::kCode)) return Tri::kNo;
  const std::string name = spelled(*answer);
  const bool roman = gold->name.find_first_not_of("IVX") == std::string::npos;
  return scalar::tri(name == gold->name || (roman && name == lowered(gold->name)));
}

// A code of letters may be written with commas: BAC and B, A, C, also in words.
Tri Comparer::code_and_list(const Expr* gold, const Expr* answer) {
  const Expr& code = gold->op == Op::kCode ? *gold : *answer;
  const Expr& list = gold->op == Op::kCode ? *answer : *gold;
  std::string letters;
  const auto one_letter = [](const Expr* item) {
    return is_one_of(item->op, Op::kText, Op::kSymbol) && item->name.size() == 1;
  };
  if (!std::ranges::all_of(list.args, one_letter)) return Tri::kNo;
  for (const Expr* item : list.args) {
    const bool letter = item->op == Op::kText && item->name.size() == 1;
    letters += letter ? std::string(1, to_upper(item->name[0])) : spelled(*item);
  }
  return scalar::tri(list.op == Op::kList && is_sort(code, Sort::kCode) && letters == code.name);
}

// An answer such as 10-3 is arithmetic for a gold that is a number.
Tri Comparer::value_of_code(const Expr* gold, const Expr* answer) {
  if (gold->op == Op::kUnit && is_sort(*answer, Sort::kTime) && is_other_unit(*gold)) {
    const Expr* length = as_picometers(*answer, *gold, arena_);
    return length == nullptr ? Tri::kNo : units(gold, length);
  }
  if (gold->op == Op::kUnit) return units(gold, answer);
  return answer->args.empty() ? code_and_name(answer, gold) : equal(gold, answer->args.front());
}

}  // namespace lie::equal
