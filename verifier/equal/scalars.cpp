// Compares numbers and formulas, with percent signs, degrees, bases and ratios.
#include <algorithm>
#include <array>
#include <string_view>

#include "verifier/equal/comparer.h"
#include "verifier/equal/units.h"

namespace lie::equal {
namespace {

using exact::Rational, expr::Fn, scalar::compare_reals, scalar::equal_scalars;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Returns whether the other terms of a sum may be an integral: besides numbers they are more than
// names, or one small name x, and `constant` does not occur in them.
bool may_be_integral(const Expr& sum, const Expr* constant) {
  std::size_t names = 0, others = 0;
  bool small = false;
  for (const Expr* term : sum.args) {
    if (term == constant || term->op == Op::kNumber) continue;
    if (is_free_in(*term, constant->name)) return false;
    ++others;
    names += term->op == Op::kSymbol ? 1 : 0;
    small = small || (term->op == Op::kSymbol && !is_upper(term->name.front()));
  }
  return names < others || (others == 1 && small && is_upper(constant->name.front()));
}

// Returns whether a sum has a constant of integration. A small c or k must come last, and not among
// other parameters.
bool has_added_constant(const Expr& e) {
  static constexpr std::array<std::string_view, 4> kNames = {"C", "K", "C_1", "C_0"};
  if (e.op != Op::kAdd) return false;
  const Expr* last = e.args.back();
  const bool is_small = last->op == Op::kSymbol && is_one_of(last->name, "c", "k");
  if (is_small && free_names(e).size() <= 2 && may_be_integral(e, last)) return true;
  return std::ranges::any_of(e.args, [&](const Expr* term) {
    return term->op == Op::kSymbol && std::ranges::find(kNames, term->name) != kNames.end() &&
           may_be_integral(e, term);
  });
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

}  // namespace

Tri Comparer::scalars(const Expr* gold, const Expr* answer) {
  // The name of a constant does not give the digits that are asked for.
  if (is_one_of(answer->op, Op::kConstant) && gold->op == Op::kNumber && gold->flag)
    return Tri::kNo;
  if (gold->op == Op::kUnit || answer->op == Op::kUnit) return units(gold, answer);
  if (!units_inside_agree(*gold, *answer)) return Tri::kNo;
  // Words are no factors: "not 0" is no 0.
  if (gold->has(expr::trait::kText) != answer->has(expr::trait::kText)) return Tri::kNo;
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

}  // namespace lie::equal
