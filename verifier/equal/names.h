// Names that may differ between gold and answer, and words.
#pragma once

#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

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

/// Decides equality if at least one side is words. The letters of both are compared, so that
/// \text{Even} is Even.
Tri equal_texts(const expr::Expr* gold, const expr::Expr* answer);

}  // namespace lie::equal
