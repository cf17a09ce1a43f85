// Rewriting of answers before they are compared: units, signs, chains of equations, names, matrix
// arithmetic.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/options.h"

namespace lie::equal {

/// The expression with every +- taken both ways (all upper signs together with all lower ones where
/// a -+ stands in it, independently otherwise, at most four signs); the expression itself where
/// there is none.
std::vector<const expr::Expr*> expand_signs(const expr::Expr* e, expr::Arena& arena);

/// e with its arguments changed; e itself where none changes, nullptr where one becomes nullptr.
using Change = std::function<const expr::Expr*(const expr::Expr*)>;
const expr::Expr* map_args(const expr::Expr* e, expr::Arena& arena, const Change& change);

/// e with a name replaced everywhere it is free.
const expr::Expr* substitute(const expr::Expr* e, std::string_view name, const expr::Expr* value,
                             expr::Arena& arena);

/// e with its names replaced by others, by position in the two lists.
const expr::Expr* rename(const expr::Expr* e, const std::vector<std::string>& from,
                         const std::vector<std::string>& to, expr::Arena& arena);

/// The free names of e in order of appearance; names of unknown functions are not among them.
std::vector<std::string> free_names(const expr::Expr& e);

/// Sums and products of matrices, transposes, determinants, traces, and gcd and lcm of polynomials
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

}  // namespace lie::equal
