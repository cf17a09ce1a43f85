// Rewrites answers before they are compared: units, signs, chains of equations, matrix arithmetic.
#pragma once

#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::equal {

/// Returns the expression once for each choice of its signs +-. Signs are independent, unless a -+
/// or more than four signs occur: then all upper and all lower ones belong together. Returns the
/// expression itself where there is no sign.
std::vector<const expr::Expr*> expand_signs(const expr::Expr* e, expr::Arena& arena);

/// Evaluates sums and products of matrices.
const expr::Expr* evaluate_structures(const expr::Expr* e, expr::Arena& arena);

/// Returns whether an expression only names something: x, S_n, AB/CD, f(x), |AB|, x + y, (p, q).
bool is_name(const expr::Expr& e);

/// Returns whether an expression is an equation a = b (or a \in b) whose left side is a name.
bool is_assignment(const expr::Expr& e);

/// Shortens chains of equations to first = last and drops approximations, if `last_of_chain` is
/// set.
const expr::Expr* shorten_chain(const expr::Expr* e, expr::Arena& arena,
                                const VerifierOptions& options);

/// Returns the approximate value that shorten_chain() drops, or nullptr where it drops none.
const expr::Expr* dropped_approximation(const expr::Expr& e, const VerifierOptions& options);

/// Returns the element of sets, tuples and lists of one element.
const expr::Expr* unwrap(const expr::Expr* e);

/// Sorts equations such as y = 2, x = 12 by their letters, as the coordinates of a point. Returns
/// other lists as they are, and nullptr where the arena is full.
const expr::Expr* sorted_by_names(const expr::Expr* list, expr::Arena& arena);

/// Returns whether a sum or product has degrees, as 180^\circ - x does. Degrees in functions do not
/// count.
bool has_degree_terms(const expr::Expr& e);

/// Returns the sum or product without its degree signs, or nullptr where the arena is full.
const expr::Expr* without_degrees(const expr::Expr* e, expr::Arena& arena);

/// The product 3 m or 3 \frac{m}{s} as a quantity, where its last factors are a unit of the same
/// dimension as `unit`. Returns any other expression as it is, and nullptr where the arena is full.
const expr::Expr* as_quantity(const expr::Expr* e, std::string_view unit, expr::Arena& arena);

}  // namespace lie::equal
