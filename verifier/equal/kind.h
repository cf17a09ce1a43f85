// The kinds of answers.
#pragma once

#include <cstdint>

#include "verifier/expr/expr.h"

namespace lie::equal {

/// The kind of a prepared answer.
enum class Kind : std::uint8_t {
  kText,        // words
  kCode,        // a date, time, range or code
  kScalar,      // a number, formula or function of names
  kPair,        // two constants in round or square brackets: a point or an interval
  kTuple,       // any other tuple
  kList,        // several answers without brackets, or a finite set in braces
  kRealSet,     // a set of reals in another form: a union, all reals, a set builder
  kInequality,  // inequalities in one name
  kRelation,    // any other relation: an equation, a congruence, an inequality in several names
  kMatrix,
  kResidue,  // a number or an equation modulo a number
  kOther,    // cases, sets with names in them
};

Kind kind_of(const expr::Expr& e);

/// Returns whether an expression only names something: x, S_n, AB/CD, f(x), |AB|, x + y, (p, q).
bool is_name(const expr::Expr& e);

/// Returns whether an expression is an equation a = b (or a \in b) whose left side is a name.
bool is_assignment(const expr::Expr& e);

/// Returns whether an expression is a relation but no equation, membership, approximation or arrow.
bool is_inequality(const expr::Expr& e);

/// Returns whether an expression describes a set of reals: an interval, all reals, a finite set of
/// constants, conditions on one name, or a combination of these.
bool is_real_set(const expr::Expr& e);

}  // namespace lie::equal
