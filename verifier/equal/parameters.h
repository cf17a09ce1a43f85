// Parameters with a declared set, such as k \in \mathbb{Z}, which one side may leave out.
#pragma once

#include <string>
#include <vector>

#include "verifier/expr/expr.h"

namespace lie::equal {

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

}  // namespace lie::equal
