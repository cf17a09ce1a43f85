// Arithmetic of quantities. The unit stands outside: 5 cm + 3 cm is (5 + 3) cm. Where units cannot
// be moved outside, they stay at their numbers, and only the same units equal them.
#pragma once

#include <vector>

#include "verifier/expr/expr.h"

namespace lie::latex {

/// Returns another value with the unit of a quantity.
const expr::Expr* with_value(const expr::Expr& quantity, const expr::Expr* value,
                             expr::Arena& arena);

/// Returns -e.
const expr::Expr* negated(const expr::Expr* e, expr::Arena& arena);

/// Returns the sum. A unit after the last term only belongs to all: 480 + 480\sqrt{3} feet.
const expr::Expr* added(std::vector<const expr::Expr*> terms, expr::Arena& arena);

/// Returns the product of factors in their order.
const expr::Expr* multiplied(std::vector<const expr::Expr*> factors, expr::Arena& arena);

/// Returns a / b. In a line, a unit after the divisor only belongs to the quotient: \pi/2 m.
const expr::Expr* divided(const expr::Expr* a, const expr::Expr* b, bool in_line,
                          expr::Arena& arena);

/// Returns base ^ exponent.
const expr::Expr* to_power(const expr::Expr* base, const expr::Expr* exponent, expr::Arena& arena);

}  // namespace lie::latex
