// Rewriting of answers before they are compared: units, signs, chains of equations, matrix
// arithmetic.
#pragma once

#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::equal {

/// The expression with every +- taken both ways (all upper signs together with all lower ones where
/// a -+ occurs, independently otherwise, at most four signs); the expression itself where there is
/// none.
std::vector<const expr::Expr*> expand_signs(const expr::Expr* e, expr::Arena& arena);

/// Sums and products of matrices, transposes, determinants, traces, and gcd and lcm of numbers
/// carried out; the rest as it was.
const expr::Expr* evaluate_structures(const expr::Expr* e, expr::Arena& arena);

/// Whether an expression only names something: x, S_n, AB/CD, f(x), |AB|, x + y, (p, q).
bool is_name(const expr::Expr& e);

/// An equation a = b (or a \in b) whose left side is a name.
bool is_assignment(const expr::Expr& e);

/// Chains of equations cut to first = last, approximations dropped, as `last_of_chain` says.
const expr::Expr* shorten_chain(const expr::Expr* e, expr::Arena& arena,
                                const VerifierOptions& options);

/// The value behind the approximation that shorten_chain() drops; nullptr where it drops none.
const expr::Expr* dropped_approximation(const expr::Expr& e, const VerifierOptions& options);

/// Sets and tuples of one element, and units around what is no number, taken off.
const expr::Expr* unwrap(const expr::Expr* e);

/// The equations y = 2, x = 12 in the order of their letters, as a point's coordinates are; other
/// lists as they are. nullptr: the arena is full.
const expr::Expr* sorted_by_names(const expr::Expr* list, expr::Arena& arena);

/// Whether it is a sum or product with degrees: 180^\circ - x. Those within functions do not count.
bool has_degree_terms(const expr::Expr& e);

/// The same without the signs of its degrees. nullptr: the arena is full.
const expr::Expr* without_degrees(const expr::Expr* e, expr::Arena& arena);

/// The product 3 m or 3 \frac{m}{s} as a quantity, where its last factors are a unit of the same
/// dimension as `unit`. Returns any other expression as it is, and nullptr where the arena is full.
const expr::Expr* as_quantity(const expr::Expr* e, std::string_view unit, expr::Arena& arena);

}  // namespace lie::equal
