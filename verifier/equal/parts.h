// What comparing takes: answers prepared (prepare.cpp), names (names.cpp), sets of real numbers
// (sets.cpp), words and units (text.cpp).
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

/// An answer ready for comparison at its top level; its parts are prepared when they are compared.
/// nullptr where the budget is spent.
const expr::Expr* prepare(const expr::Expr* e, expr::Arena& arena, const VerifierOptions& options);

/// The answer with those names that the gold spells with other capitals, or, under
/// rename_variables, with the gold's names by position. nullptr: the arena is full.
const expr::Expr* match_names(const expr::Expr* gold, const expr::Expr* answer, expr::Arena& arena,
                              const VerifierOptions& options);

/// The answer with the gold's names where they mean nothing outside: f(u) = u^2 for f(x) = x^2, 2m
/// with m \in \mathbb{Z} for 2k, {t | t > 0} for {x | x > 0}; the answer itself where such a name
/// is another's already. nullptr: the arena is full.
const expr::Expr* with_names_of(const expr::Expr& gold, const expr::Expr& answer,
                                expr::Arena& arena);

/// Gold and answer of one comparison; nullptr: the arena is full.
struct Pair {
  const expr::Expr* gold = nullptr;
  const expr::Expr* answer = nullptr;
};

/// Where only one of them says that its parameter is an integer (2k\pi, k \in \mathbb{Z}), both
/// without saying so, the answer's parameter under the gold's name; else the two as they are.
Pair with_declaration_understood(Pair pair, expr::Arena& arena);

/// Equality as sets of reals. The line is cut at all the end points that occur; membership is
/// decided at every end point exactly and at drawn points of every piece between. kUnknown where an
/// end point cannot be ordered.
Tri equal_real_sets(const expr::Expr& gold, const expr::Expr& answer, expr::Arena& arena,
                    const VerifierOptions& options);

/// Equality where at least one side is words: the letters of both are compared, so that \text{Even}
/// is Even.
Tri equal_texts(const expr::Expr* gold, const expr::Expr* answer);

}  // namespace lie::equal
