// Compares numbers and formulas, with percent signs, units, degrees, bases and ratios.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "common/text/scan.h"
#include "verifier/equal/compare.h"
#include "verifier/equal/comparer.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::equal {
namespace {

using exact::Rational, expr::Fn, latex::Base, latex::Unit, scalar::compare_reals,
    scalar::equal_scalars;

// Returns whether a sum ends in a constant of integration. A small c or k must come last, and not
// among other parameters.
bool has_added_constant(const Expr& e) {
  static constexpr std::array<std::string_view, 4> kNames = {"C", "K", "C_1", "C_0"};
  if (e.op != Op::kAdd) return false;
  const auto named = [](const Expr* term) {
    return term->op == Op::kSymbol && std::ranges::find(kNames, term->name) != kNames.end();
  };
  if (std::ranges::any_of(e.args, named)) return true;
  const Expr& last = *e.args.back();
  return last.op == Op::kSymbol && (last.name == "c" || last.name == "k") &&
         free_names(e).size() <= 2;
}

bool is_unit_of(const Expr& e, Base base, Base other) {
  const std::optional<Unit> unit =
      e.op == Op::kUnit ? latex::read_unit(latex::normal_text(e.name)) : std::nullopt;
  return unit && (unit->is(base) || unit->is(other));
}

// Returns whether a ratio is a time such as 8:30 p.m.
bool is_time(const Expr& e, const Expr& bare) {
  return bare.op == Op::kRatio && is_unit_of(e, Base::kForenoon, Base::kAfternoon);
}

// Returns whether a sum or product has degrees, as 180^\circ - x does. Degrees in functions do not
// count.
bool has_degree_terms(const Expr& e) {
  return e.op == Op::kDegree ||
         (is_one_of(e.op, Op::kAdd, Op::kMul) && any_arg(e, has_degree_terms));
}

// Returns the sum or product without its degree signs, or nullptr if the arena is full.
const Expr* without_degrees(const Expr* e, Arena& arena) {
  if (e->op == Op::kDegree) return e->args[0];
  if (!is_one_of(e->op, Op::kAdd, Op::kMul)) return e;
  return map_args(e, arena, [&](const Expr* arg) { return without_degrees(arg, arena); });
}

// A unit to a power, such as s^2 or (s^2)^{-1}. The name is empty for anything else.
struct UnitPower {
  std::string name;
  std::int64_t power = 1;
};

UnitPower unit_power(const Expr& e) {
  if (e.op == Op::kPow && e.args[1]->op == Op::kNumber) {
    UnitPower out = unit_power(*e.args[0]);
    out.power *= e.args[1]->value.small_integer().value_or(100);
    return std::abs(out.power) < 10 ? out : UnitPower{};
  }
  const bool known = is_one_of(e.op, Op::kSymbol, Op::kText) && latex::read_unit(e.name);
  return {known ? e.name : std::string()};
}

// Returns the product 3 m or 3 \frac{m}{s} as a quantity, if its last factors are a unit of the
// same dimension as `unit`. Returns any other expression as it is, and nullptr if the arena is
// full.
const Expr* as_quantity(const Expr* e, std::string_view unit, Arena& arena) {
  const std::optional<latex::Unit> wanted = latex::read_unit(unit);
  if (!wanted || e->op != Op::kMul) return e;
  std::string name;
  for (std::size_t first = e->args.size() - 1; first > 0; --first) {
    UnitPower here = unit_power(*e->args[first]);
    // The prefixes of \mu m and k\Omega are letters of their own.
    const Expr& before = *e->args[first - 1];
    const bool prefix =
        first > 1 && before.op == Op::kSymbol &&
        (before.name == "mu" || (here.name == "Omega" && is_one_of(before.name, "k", "M", "m")));
    if (prefix && !here.name.empty() && latex::read_unit(before.name + here.name)) {
      here.name = before.name + here.name;
      --first;
    }
    if (here.name.empty()) return e;
    name = here.name + "^" + std::to_string(here.power) + (name.empty() ? "" : "*" + name);
    const std::optional<latex::Unit> found = latex::read_unit(name);
    if (!found || found->powers != wanted->powers) continue;
    const auto end = e->args.begin() + static_cast<std::ptrdiff_t>(first);
    return arena.make({.op = Op::kUnit, .name = name, .args = {arena.mul({e->args.begin(), end})}});
  }
  return e;
}

// Returns the size of the answer's unit in units of the gold's, such as 1/1000 for m and km.
// Returns nothing if their dimensions differ, and 1 if one of them is unknown.
std::optional<Rational> unit_ratio(std::string_view gold, std::string_view answer) {
  const std::optional<Unit> a = latex::read_unit(gold), b = latex::read_unit(answer);
  if (!a || !b) return latex::words_agree(gold, answer) ? std::optional(Rational(1)) : std::nullopt;
  if (a->powers == b->powers) return b->factor / a->factor;
  // The sign \$ does not say what is paid for.
  const bool amount = gold == "$" || answer == "$";
  return amount && a->is(Base::kDollar) && b->is(Base::kDollar) ? std::optional(Rational(1))
                                                                : std::nullopt;
}

}  // namespace

Tri Comparer::scalars(const Expr* gold, const Expr* answer) {
  // The name of a constant does not give the digits that are asked for.
  if (is_one_of(answer->op, Op::kConstant) && gold->op == Op::kNumber && gold->flag)
    return Tri::kNo;
  if (gold->op == Op::kUnit || answer->op == Op::kUnit) return units(gold, answer);
  if (gold->op == Op::kDegree || answer->op == Op::kDegree) return degrees(gold, answer);
  if (gold->op == Op::kBased || answer->op == Op::kBased) return based(gold, answer);
  if (gold->op == Op::kRatio || answer->op == Op::kRatio) return ratios(gold, answer);
  if ((gold->op == Op::kPercent) != (answer->op == Op::kPercent) &&
      percent_may_lack(gold->op == Op::kPercent ? *gold : *answer)) {
    const Tri bare = scalars(gold->op == Op::kPercent ? gold->args[0] : gold,
                             answer->op == Op::kPercent ? answer->args[0] : answer);
    if (bare != Tri::kNo) return bare;
  }
  const Tri out = equal_scalars(*gold, *answer, options_, arena_.budget());
  const bool signs = has_degree_terms(*gold);
  if (out == Tri::kNo && options_.degrees_may_lack && signs != has_degree_terms(*answer)) {
    const Expr* bare = without_degrees(signs ? gold : answer, arena_);
    if (bare == nullptr) return Tri::kUnknown;
    return signs ? scalars(bare, answer) : scalars(gold, bare);
  }
  if (out == Tri::kNo && options_.constant_may_differ && lists_ == 0 && has_added_constant(*gold) &&
      has_added_constant(*answer))
    return differ_by_constant(gold, answer);
  return out;
}

// Two functions differ by a constant if their exponentials are proportional.
Tri Comparer::differ_by_constant(const Expr* gold, const Expr* answer) {
  gold = arena_.call(Fn::kExp, {gold});
  answer = arena_.call(Fn::kExp, {answer});
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  return scalar::proportional(*gold, *answer, false, arena_.budget());
}

// Returns whether 50% may be given as 50. Below 1 a number is the fraction itself.
bool Comparer::percent_may_lack(const Expr& percent) {
  if (!options_.percent_is_number) return false;
  const Expr* one = arena_.number(1);
  const Expr* size = arena_.call(Fn::kAbs, {percent.args[0]});
  if (one == nullptr || size == nullptr || has_names(*size)) return false;
  const int order = compare_reals(*size, *one, options_, arena_.budget());
  return order == 0 || order == 1;
}

Tri Comparer::units(const Expr* gold, const Expr* answer) {
  if (gold->op != Op::kUnit) gold = as_quantity(gold, answer->name, arena_);
  if (answer->op != Op::kUnit) answer = as_quantity(answer, gold->name, arena_);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  const bool two = gold->op == Op::kUnit && answer->op == Op::kUnit;
  if (!two && !options_.drop_units) return Tri::kNo;
  const Expr* a = gold->op == Op::kUnit ? gold->args[0] : gold;
  const Expr* b = answer->op == Op::kUnit ? answer->args[0] : answer;
  if (two) {
    const std::optional<Rational> ratio = unit_ratio(gold->name, answer->name);
    if (!ratio) return Tri::kNo;
    if (!(*ratio == Rational(1))) b = arena_.mul({arena_.number(*ratio), b});
    if (b == nullptr) return Tri::kUnknown;
  }
  if (is_time(*gold, *a) || is_time(*answer, *b)) return structures(a, b);
  const bool degrees = a->op == Op::kDegree || b->op == Op::kDegree;
  if (degrees && (is_unit_of(*gold, Base::kRadian, Base::kRadian) ||
                  is_unit_of(*answer, Base::kRadian, Base::kRadian)))
    return equal_scalars(*a, *b, options_, arena_.budget());
  return equal(a, b);
}

Tri Comparer::degrees(const Expr* gold, const Expr* answer) {
  const bool two = gold->op == Op::kDegree && answer->op == Op::kDegree;
  if (!two) {
    const Tri as_angle = equal_scalars(*gold, *answer, options_, arena_.budget());
    if (as_angle == Tri::kYes || !options_.degrees_may_lack) return as_angle;
  }
  return equal(gold->op == Op::kDegree ? gold->args[0] : gold,
               answer->op == Op::kDegree ? answer->args[0] : answer);
}

// A number without a base is read in that of the other. Digits beyond 9 have one reading only, so
// that their value counts as well.
Tri Comparer::based(const Expr* gold, const Expr* answer) {
  const bool two = gold->op == Op::kBased && answer->op == Op::kBased;
  const Expr& here = gold->op == Op::kBased ? *gold : *answer;
  const bool letters = std::ranges::any_of(here.name, is_letter);
  const bool literal = here.flag;  // 0x1F says its base
  if (two || letters || literal) {
    const Tri out = equal_scalars(*gold, *answer, options_, arena_.budget());
    if (two || out == Tri::kYes) return out;
  }
  if (!options_.base_may_lack || (literal && !letters)) return Tri::kNo;
  const auto digits = [&](const Expr* e) {
    if (e->op != Op::kBased) return e;
    return letters ? arena_.named(Op::kText, e->name)
                   : arena_.number(*exact::from_decimal(e->name));
  };
  gold = digits(gold);
  answer = digits(answer);
  return gold == nullptr || answer == nullptr ? Tri::kUnknown : equal(gold, answer);
}

// Compares a : b : c up to a factor, and a : b with a number as a quotient. Ratios with a part of
// 0, such as 12:00, are compared part by part.
Tri Comparer::ratios(const Expr* gold, const Expr* answer) {
  if (gold->op != answer->op) return equal_scalars(*gold, *answer, options_, arena_.budget());
  if (gold->args.size() != answer->args.size()) return Tri::kNo;
  const auto zero = [this](const Expr* part) { return equal(part, arena_.number(0)) == Tri::kYes; };
  if (std::ranges::any_of(gold->args, zero) || std::ranges::any_of(answer->args, zero))
    return in_order(*gold, *answer);
  Tri out = Tri::kYes;
  for (std::size_t i = 1; i < gold->args.size(); ++i) {
    out = both(out, equal(arena_.mul({gold->args[0], answer->args[i]}),
                          arena_.mul({gold->args[i], answer->args[0]})));
  }
  return out;
}

// --- literals: the fast path for the most frequent answers, which needs no tree ---

namespace {

constexpr std::size_t kLongest = 200;  // bytes

// Reads digits with at most one point, which has digits after it.
std::optional<Rational> plain_number(std::string_view digits) {
  return digits.ends_with('.') ? std::nullopt : exact::from_decimal(digits);
}

bool is_decimal(std::string_view s) { return s.find('.') != std::string_view::npos; }

std::optional<Rational> quotient(std::string_view top, std::string_view bottom) {
  if (is_decimal(top) || is_decimal(bottom)) return std::nullopt;
  const bool negative = take(top, "-");
  const std::optional<Rational> a = plain_number(top), b = plain_number(bottom);
  if (!a || !b || b->is_zero()) return std::nullopt;
  return negative ? -*a / *b : *a / *b;
}

std::optional<Rational> value_of(std::string_view s) {
  if (take(s, "\\frac{") || take(s, "\\dfrac{") || take(s, "\\tfrac{")) {
    const std::size_t middle = s.find("}{");
    if (middle == std::string_view::npos || !s.ends_with('}')) return std::nullopt;
    return quotient(s.substr(0, middle), s.substr(middle + 2, s.size() - middle - 3));
  }
  const std::size_t slash = s.find('/');
  if (slash == std::string_view::npos) return plain_number(s);
  return s.starts_with('-') ? std::nullopt : quotient(s.substr(0, slash), s.substr(slash + 1));
}

}  // namespace

std::optional<Literal> read_literal(std::string_view text) {
  std::string_view s = trimmed(text);
  if (s.size() > kLongest) return std::nullopt;
  const bool negative = take(s, "-");
  std::optional<Rational> value = value_of(s);
  if (!value) return std::nullopt;
  return Literal{negative ? -*value : std::move(*value), is_decimal(s)};
}

bool equal_literals(const Literal& gold, const Literal& answer, const VerifierOptions& options) {
  return scalar::equal_numbers(gold.value, answer.value, gold.decimal || answer.decimal, options);
}

}  // namespace lie::equal
