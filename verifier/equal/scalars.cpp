// Numbers and formulas, and what may stand around them: percent, units, degrees, bases, ratios.
#include <algorithm>
#include <array>
#include <string_view>

#include "verifier/calculus/evaluate.h"
#include "verifier/equal/comparer.h"
#include "verifier/equal/rewrite.h"
#include "verifier/expr/substitute.h"

namespace lie::equal {
namespace {

using expr::Fn, scalar::compare_reals, scalar::equal_scalars, scalar::equal_up_to_constant;

// ... + C. A small c or k must come last, and not among letters that name parameters.
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

// 8:30 p.m., which is no proportion.
bool is_time(const Expr& e, const Expr& bare) {
  return e.op == Op::kUnit && bare.op == Op::kRatio &&
         (same_known_unit(e.name, "am") || same_known_unit(e.name, "pm"));
}

// 8 for 8:00
const Expr* hour(const Expr* time) {
  const bool full = time->op == Op::kRatio && time->args.size() == 2 &&
                    time->args[1]->op == Op::kNumber && time->args[1]->value.is_zero();
  return full ? time->args[0] : time;
}

}  // namespace

Tri Comparer::scalars(const Expr* gold, const Expr* answer) {
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
  if (out == Tri::kUnknown && has_added_constant(*gold) != has_added_constant(*answer)) {
    const bool asked = has_added_constant(*answer);
    return calculus::is_antiderivative(asked ? *gold : *answer, asked ? *answer : *gold, arena_,
                                       options_);
  }
  if (out == Tri::kNo && options_.constant_may_differ && lists_ == 0 && has_added_constant(*gold) &&
      has_added_constant(*answer))
    return equal_up_to_constant(*gold, *answer, arena_.budget());
  return out;
}

// 50% may be given as 50, but below 1 a number is the fraction itself.
bool Comparer::percent_may_lack(const Expr& percent) {
  if (!options_.percent_is_number) return false;
  const Expr* one = arena_.number(1);
  const Expr* size = arena_.call(Fn::kAbs, {percent.args[0]});
  if (one == nullptr || size == nullptr || has_names(*size)) return false;
  const int order = compare_reals(*size, *one, options_, arena_.budget());
  return order == 0 || order == 1;
}

Tri Comparer::units(const Expr* gold, const Expr* answer) {
  const bool two = gold->op == Op::kUnit && answer->op == Op::kUnit;
  if (two && !units_agree(gold->name, answer->name)) return Tri::kNo;
  if (!two && !options_.drop_units) return Tri::kNo;
  const Expr* a =
      two || gold->op == Op::kUnit ? gold->args[0] : without_unit(gold, answer->name, arena_);
  const Expr* b =
      answer->op == Op::kUnit ? answer->args[0] : without_unit(answer, gold->name, arena_);
  if (a == nullptr || b == nullptr) return Tri::kUnknown;
  if (is_time(*gold, *a) || is_time(*answer, *b)) {
    const Expr* here = hour(a);
    const Expr* there = hour(b);
    return here->op == Op::kRatio ? structures(*here, *there) : equal(here, there);
  }
  const bool degrees = a->op == Op::kDegree || b->op == Op::kDegree;
  if (degrees && same_known_unit(gold->op == Op::kUnit ? gold->name : answer->name, "radians"))
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

Tri Comparer::based(const Expr* gold, const Expr* answer) {
  const bool two = gold->op == Op::kBased && answer->op == Op::kBased;
  if (two && equal(gold->args[1], answer->args[1]) == Tri::kYes)
    return equal(gold->args[0], answer->args[0]);
  if (two) return equal_scalars(*gold, *answer, options_, arena_.budget());
  if (!options_.base_may_lack) return Tri::kNo;
  return equal(gold->op == Op::kBased ? gold->args[0] : gold,
               answer->op == Op::kBased ? answer->args[0] : answer);
}

// a : b : c up to a factor; a : b against a number as a quotient. With a part of 0 (12:00) part
// by part.
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
