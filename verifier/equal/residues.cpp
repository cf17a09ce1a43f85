// Compares numbers and equations modulo a number: 3 \pmod 7, x \equiv 3 \pmod 7.
#include "verifier/equal/comparer.h"
#include "verifier/equal/kind.h"

namespace lie::equal {
namespace {

using expr::Fn, expr::Rel;

// A residue: x \equiv value, or the value alone.
struct Residue {
  const Expr* name = nullptr;
  const Expr* value = nullptr;
};

Residue parts_of(const Expr& residue) {
  const Expr* inner = residue.args[0];
  const bool equation = inner->op == Op::kRelation && inner->args.size() == 2 &&
                        is_one_of(inner->relations[0], Rel::kEquivalent, Rel::kEqual);
  return equation ? Residue{inner->args[0], inner->args[1]} : Residue{nullptr, inner};
}

}  // namespace

// Constants are congruent if their difference leaves no remainder. Formulas have to be equal.
Tri Comparer::congruent(const Expr* a, const Expr* b, const Expr* modulus) {
  const Tri same = equal(a, b);
  if (same == Tri::kYes || !is_constant(*a) || !is_constant(*b) || !is_constant(*modulus))
    return same;
  const Expr* difference = arena_.add({a, arena_.negate(b)});
  const Expr* rest = arena_.call(Fn::kMod, {difference, modulus});
  return rest == nullptr ? Tri::kUnknown : equal(rest, arena_.number(0));
}

// Both sides have the same modulus. A name may lack on one of them.
Tri Comparer::residues(const Expr* gold, const Expr* answer) {
  const Tri moduli = equal(gold->args[1], answer->args[1]);
  if (moduli != Tri::kYes) return moduli;
  const Residue a = parts_of(*gold), b = parts_of(*answer);
  if (!is_scalar(*a.value) || !is_scalar(*b.value)) return structures(gold, answer);
  const Tri names = a.name == nullptr || b.name == nullptr ? Tri::kYes : equal(a.name, b.name);
  if (names == Tri::kYes) return congruent(a.value, b.value, gold->args[1]);
  return structures(gold, answer);
}

// The modulus may lack. A number such as 10 \pmod 7 may be reduced.
Tri Comparer::value_of_residue(const Expr* gold, const Expr* answer) {
  const Expr& residue = gold->op == Op::kTuple ? *gold : *answer;
  const Expr* scalar = gold->op == Op::kTuple ? answer : gold;
  const Residue parts = parts_of(residue);
  if (parts.name != nullptr && !is_name(*parts.name)) return Tri::kNo;
  if (!is_scalar(*parts.value)) return Tri::kNo;
  const Tri same = scalar == gold ? equal(scalar, parts.value) : equal(parts.value, scalar);
  if (same == Tri::kYes || !is_constant(*parts.value)) return same;
  const Expr* rest = arena_.call(Fn::kMod, {parts.value, residue.args[1]});
  if (rest == nullptr) return Tri::kUnknown;
  return scalar == gold ? equal(scalar, rest) : equal(rest, scalar);
}

// Returns whether one of two names or numbers is even and the other odd.
Tri Comparer::is_other_parity(const Expr& residue, const Expr& other) {
  const auto is_parity = [](const Expr& e) {
    return e.op == Op::kTuple && e.open == 0 && e.args.size() == 2 &&
           e.args[1]->op == Op::kNumber && e.args[1]->value == exact::Rational(2);
  };
  if (!is_parity(residue) || !is_parity(other)) return Tri::kNo;
  const Residue a = parts_of(residue), b = parts_of(other);
  if (a.name == nullptr || b.name == nullptr || equal(a.name, b.name) != Tri::kYes) return Tri::kNo;
  return congruent(a.value, arena_.add({b.value, arena_.number(1)}), other.args[1]);
}

}  // namespace lie::equal
