// Parts of the comparison: kinds of answers (kind.cpp), prepared answers (prepare.cpp), names and
// words (names.cpp), declared parameters (parameters.cpp), and sets of real numbers (sets.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

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

/// Returns an answer in the form that the rules expect at its top level. Its parts are prepared
/// when they are compared. Returns nullptr if the budget is spent.
const expr::Expr* prepare(const expr::Expr* e, expr::Arena& arena, const VerifierOptions& options);

/// Returns a list such as x = \pm 1, y = 2 as the points (1, 2), (-1, 2), if the other side is a
/// list of points with as many coordinates, and any other answer as it is. Returns nullptr if the
/// arena is full.
const expr::Expr* as_points(const expr::Expr& other, const expr::Expr* list, expr::Arena& arena);

/// Returns the approximate value that prepare() drops from a chain of equations, or nullptr.
const expr::Expr* dropped_approximation(const expr::Expr& e, const VerifierOptions& options);

/// Returns the answer with its names in the gold's capitals, or, with rename_variables, with the
/// gold's names by position. Returns nullptr if the arena is full.
const expr::Expr* match_names(const expr::Expr* gold, const expr::Expr* answer, expr::Arena& arena,
                              const VerifierOptions& options);

/// Returns the answers that result from one with two or three constants of integration, if they
/// take the gold's names C_1, C_2 in any order. Nothing if the gold has no such names.
std::vector<const expr::Expr*> with_constants_exchanged(const expr::Expr& gold,
                                                        const expr::Expr& answer,
                                                        expr::Arena& arena);

/// Returns the answer with the gold's names for those that have no meaning outside: f(u) = u^2 for
/// f(x) = x^2, 2m with m \in \mathbb{Z} for 2k, {t | t > 0} for {x | x > 0}. Returns the answer
/// itself if it uses such a name already, and nullptr if the arena is full.
const expr::Expr* with_names_of(const expr::Expr& gold, const expr::Expr& answer,
                                expr::Arena& arena);

/// Returns the k of a list with k \in \mathbb{Z} or another set, or nothing if there are several.
std::vector<std::string> sole_parameter(const expr::Expr& list);

/// Returns the only name of e that `other` lacks, or nothing if there are none or several.
std::string lone_name(const expr::Expr& e, const expr::Expr& other);

/// Gold and answer of one comparison. A nullptr means that the arena is full.
struct Pair {
  const expr::Expr* gold = nullptr;
  const expr::Expr* answer = nullptr;
};

/// Removes the declaration of an integer parameter (2k\pi, k \in \mathbb{Z}) if only one of them
/// has it and the other implies it, and gives the answer's parameter the gold's name. A domain that
/// restricts an answer (x > 0, x \in \mathbb{Z}) stays. Returns other pairs as they are.
Pair with_declaration_understood(Pair pair, expr::Arena& arena);

/// Decides equality as sets of reals. All end points divide the line. Membership is decided exactly
/// at every end point, and at drawn points of every piece between. Returns kUnknown if end
/// points cannot be ordered.
Tri equal_real_sets(const expr::Expr& gold, const expr::Expr& answer, expr::Arena& arena,
                    const VerifierOptions& options);

/// Returns whether all units inside two expressions are the same. One side may have none, unless a
/// remark of the other changes its value.
bool units_inside_agree(const expr::Expr& gold, const expr::Expr& answer);

/// Returns the sum of the list "2 hours and 30 minutes", whose second part is less than one unit of
/// the first. Returns nullptr for other lists.
const expr::Expr* joined_quantities(const expr::Expr& list, expr::Arena& arena);

/// Decides equality if at least one side is words. The letters of both are compared, so that
/// \text{Even} is Even.
Tri equal_texts(const expr::Expr* gold, const expr::Expr* answer);

}  // namespace lie::equal
