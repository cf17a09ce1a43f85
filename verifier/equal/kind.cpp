#include "verifier/equal/kind.h"

#include <algorithm>
#include <string>
#include <vector>

namespace lie::equal {
namespace {

using expr::Expr, expr::Fn, expr::Op, expr::Rel;
namespace trait = expr::trait;

bool is_order(Rel rel) {
  return is_one_of(rel, Rel::kLess, Rel::kLessEqual, Rel::kGreater, Rel::kGreaterEqual,
                   Rel::kNotEqual, Rel::kEqual);
}

// Returns whether a relation describes a set of reals. It has one name, or one value of an unknown
// function such as f(x).
bool is_condition(const Expr& e) {
  if (e.op != Op::kRelation || e.has(trait::kText | trait::kImaginary)) return false;
  if (e.args.size() == 2 && e.relations[0] == Rel::kIn)
    return is_name(*e.args[0]) && is_real_set(*e.args[1]) && !has_names(*e.args[1]);
  if (!std::ranges::all_of(e.relations, is_order)) return false;
  if (!std::ranges::all_of(e.args, [](const Expr* arg) { return is_scalar(*arg); })) return false;
  // The roots of an equation are only known if it is solved.
  const bool equation = std::ranges::find(e.relations, Rel::kEqual) != e.relations.end();
  if (equation && !(e.args.size() == 2 && is_name(*e.args[0]) && !has_names(*e.args[1])))
    return false;
  if (!e.has(trait::kCall)) return free_names(e).size() == 1;
  // A call is compared with constants only.
  const auto named = [](const Expr* arg) { return has_names(*arg); };
  return std::ranges::count_if(e.args, named) == 1 &&
         std::ranges::count(e.args, Op::kApply, &Expr::op) == 1;
}

// Returns the name or call that a condition restricts.
std::string subject(const Expr& condition) {
  if (!condition.has(trait::kCall)) return free_names(condition).front();
  return to_text(**std::ranges::find(condition.args, Op::kApply, &Expr::op));
}

// Returns whether all parts are constants, sets, or conditions on the same name or call.
bool are_parts(const std::vector<const Expr*>& parts) {
  std::string spoken;
  return std::ranges::all_of(parts, [&](const Expr* part) {
    if (is_constant(*part)) return true;
    if (!is_real_set(*part)) return false;
    if (part->op != Op::kRelation || part->relations[0] == Rel::kIn) return true;
    const std::string here = subject(*part);
    if (!spoken.empty() && spoken != here) return false;
    spoken = here;
    return true;
  });
}

// Returns whether every condition of {x | ...} is on the element.
bool is_builder(const Expr& e) {
  if (!is_name(*e.args[0]) || e.args[0]->op == Op::kMul) return false;
  const std::vector<std::string> element = free_names(*e.args[0]);
  return std::all_of(e.args.begin() + 1, e.args.end(), [&](const Expr* condition) {
    return is_real_set(*condition) && free_names(*condition) == element;
  });
}

bool all_inequalities(const Expr& e) {
  return std::ranges::all_of(e.args, [](const Expr* arg) { return is_inequality(*arg); });
}

}  // namespace

bool is_name(const Expr& e) {
  const auto all_names = [&] {
    return std::ranges::all_of(e.args, [](const Expr* arg) { return is_name(*arg); });
  };
  if (e.op == Op::kConstant) return e.name == "e" || e.name == "i";
  if (e.op == Op::kPow)
    return is_name(*e.args[0]) && e.args[1]->op == Op::kNumber &&
           e.args[1]->value == exact::Rational(-1);
  if (e.op == Op::kFunction)
    return is_one_of(e.fn, Fn::kAbs, Fn::kDet, Fn::kNorm, Fn::kMin, Fn::kMax, Fn::kGcd, Fn::kLcm) &&
           all_names();
  if (is_one_of(e.op, Op::kSymbol, Op::kText, Op::kApply)) return true;
  return is_one_of(e.op, Op::kMul, Op::kAdd, Op::kRatio, Op::kTuple, Op::kRelation, Op::kUnit,
                   Op::kList) &&
         all_names();
}

bool is_assignment(const Expr& e) {
  return e.op == Op::kRelation && e.args.size() == 2 &&
         (e.relations[0] == Rel::kEqual || e.relations[0] == Rel::kIn) && is_name(*e.args[0]);
}

bool is_inequality(const Expr& e) {
  return e.op == Op::kRelation && std::ranges::none_of(e.relations, [](Rel rel) {
           return is_one_of(rel, Rel::kEqual, Rel::kIn, Rel::kApprox, Rel::kArrow, Rel::kIff);
         });
}

bool is_real_set(const Expr& e) {
  switch (e.op) {
    case Op::kTuple:
      return e.args.size() == 2 && e.open != 0 && is_constant(*e.args[0]) &&
             is_constant(*e.args[1]);
    case Op::kSet:
    case Op::kList:
      // Several sets in other forms are several answers, not their union.
      return std::ranges::none_of(e.args,
                                  [](const Expr* arg) {
                                    return is_one_of(arg->op, Op::kSetBuilder, Op::kNamedSet,
                                                     Op::kUnion);
                                  }) &&
             are_parts(e.args);
    case Op::kUnion:
    case Op::kIntersection:
    case Op::kDifference: return are_parts(e.args);
    case Op::kNamedSet: return e.name == "R" || e.name == "empty";
    case Op::kRelation: return is_condition(e);
    case Op::kSetBuilder: return is_builder(e);
    default: return false;
  }
}

Kind kind_of(const Expr& e) {
  switch (e.op) {
    case Op::kText: return Kind::kText;
    case Op::kCode: return Kind::kCode;
    case Op::kTuple:
      if (e.open == 0) return Kind::kResidue;
      return is_real_set(e) ? Kind::kPair : Kind::kTuple;
    case Op::kList:
    case Op::kSet: return all_inequalities(e) && is_real_set(e) ? Kind::kInequality : Kind::kList;
    case Op::kNamedSet:
    case Op::kSetBuilder:
    case Op::kUnion:
    case Op::kIntersection:
    case Op::kDifference: return is_real_set(e) ? Kind::kRealSet : Kind::kOther;
    case Op::kMatrix: return Kind::kMatrix;
    case Op::kRelation:
      return is_inequality(e) && is_condition(e) ? Kind::kInequality : Kind::kRelation;
    case Op::kCases: return Kind::kOther;
    default: return Kind::kScalar;
  }
}

}  // namespace lie::equal
