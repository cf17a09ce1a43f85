// Exact evaluation modulo a prime at a drawn point: whether two rational expressions are one and
// the same.
#pragma once

#include <cstdint>
#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// The value of an expression at the point `seed`, modulo exact::kPrime. Names get hashed values,
/// and so does every function or power that is not rational, from the residues of its arguments:
/// equal arguments, equal values. So equal expressions that need only the field's rules always
/// agree, and different ones agree at a point with probability at most degree / 2^62.
struct Residue {
  std::uint64_t value = 0;
  bool opaque = false;  // something but field operations went in: a difference proves nothing
};

/// Nothing on a division by zero, for a shape that is no scalar, or beyond the budget.
std::optional<Residue> residue_at(const expr::Expr& e, std::uint64_t seed, Budget& budget);

}  // namespace lie::scalar
