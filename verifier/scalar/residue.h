// Evaluates expressions exactly modulo a prime at a drawn point, to decide whether two rational
// expressions are the same.
#pragma once

#include <cstdint>
#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// The value of an expression at the point `seed`, modulo exact::kPrime. Names have hashed values.
/// A function or power that is not rational has a hash of the residues of its arguments. So
/// expressions that are equal by the rules of fields always agree, and different ones agree at a
/// point with probability at most degree / 2^62.
struct Residue {
  std::uint64_t value = 0;
  bool opaque = false;  // not only field operations: a difference proves nothing
};

/// Returns nothing for a division by zero, for what is no scalar, or beyond the budget.
std::optional<Residue> residue_at(const expr::Expr& e, std::uint64_t seed, Budget& budget);

}  // namespace lie::scalar
