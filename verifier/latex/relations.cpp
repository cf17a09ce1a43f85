// Parses relations, congruences, and operations of sets.
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"

namespace lie::latex {
namespace {

// Modulo 1 all whole numbers are equal.
bool tells_nothing(const Expr& modulus) {
  return modulus.op == Op::kNumber && !(exact::Rational(1) < modulus.value);
}

}  // namespace

const Expr* Parser::relation() {
  const Expr* first = set_expression();
  if (first != nullptr && take(Tok::kPmod)) {
    const Expr* modulus = fraction_part();
    if (modulus == nullptr || tells_nothing(*modulus))
      return fail("a modulus that tells nothing apart");
    return arena_.call(Fn::kMod, {first, modulus});
  }
  if (first == nullptr || !is(Tok::kRelation)) return first;
  Expr chain{.op = Op::kRelation, .args = {first}};
  while (is(Tok::kRelation)) {
    chain.relations.push_back(tok().rel);
    ++at_;
    const Expr* next = set_expression();
    if (next == nullptr) return fail("nothing follows a relation sign");
    chain.args.push_back(next);
  }
  return with_modulus(arena_.make(std::move(chain)));
}

bool Parser::at_bracketed_modulus() const {
  return is_open('(') &&
         (is(Tok::kMod, 1) || (is(Tok::kText, 1) && normal_text(tok(1).name) == "mod"));
}

// Parses the modulus of a = b (mod n) and a \equiv b \mod n.
const Expr* Parser::with_modulus(const Expr* relation) {
  const bool bracketed = at_bracketed_modulus();
  const bool equivalence = relation != nullptr && relation->relations.back() == Rel::kEquivalent;
  if (equivalence && relation->args.back()->fn == Fn::kMod) {
    Expr chain = *relation;
    const Expr* residue = chain.args.back();
    if (tells_nothing(*residue->args[1])) return fail("a modulus that tells nothing apart");
    chain.args.back() = residue->args[0];
    return arena_.node(Op::kTuple, {arena_.make(std::move(chain)), residue->args[1]});
  }
  if (!is(Tok::kPmod) && !bracketed) return relation;
  at_ += bracketed ? 2 : 1;
  const Expr* modulus = bracketed ? sum() : fraction_part();
  if (modulus != nullptr && tells_nothing(*modulus))
    return fail("a modulus that tells nothing apart");
  if (bracketed && !take(Tok::kClose)) return fail("the modulus is not closed");
  return arena_.node(Op::kTuple, {relation, modulus});
}

const Expr* Parser::set_operation(Tok kind, const Expr* left, const Expr* right) {
  if (kind == Tok::kCup) return arena_.node(Op::kUnion, {left, right});
  if (kind == Tok::kCap) return arena_.node(Op::kIntersection, {left, right});
  return arena_.node(Op::kDifference, {left, right});
}

// Returns whether a minus sign removes a set, as in \mathbb{R} - \{0\}.
bool Parser::parts_from_set(const Expr& left) const {
  return is(Tok::kMinus) && is_one_of(left.op, Op::kNamedSet, Op::kUnion, Op::kDifference) &&
         (is_open('{', 1) || is(Tok::kBraceOpen, 1));
}

const Expr* Parser::set_expression() {
  const Expr* left = sum();
  while (left != nullptr &&
         (is(Tok::kCup) || is(Tok::kCap) || is(Tok::kSetMinus) || parts_from_set(*left))) {
    const Tok kind = tok().kind;
    ++at_;
    left = set_operation(kind, left, sum());
  }
  return left;
}

}  // namespace lie::latex
