#include "verifier/exact/algebraic.h"

#include <stdlib.h>

#if __has_include(<flint/qqbar.h>)
#include <flint/qqbar.h>
#else
#include <calcium/qqbar.h>
#endif

enum { kMostDegree = 16, kMostBits = 2000 };

struct lie_algebraic {
  qqbar_t value;
};

lie_algebraic* lie_algebraic_new(void) {
  lie_algebraic* x = flint_malloc(sizeof *x);
  qqbar_init(x->value);
  return x;
}

void lie_algebraic_free(lie_algebraic* x) {
  qqbar_clear(x->value);
  flint_free(x);
}

void lie_algebraic_set_rational(lie_algebraic* x, const fmpq_t value) {
  qqbar_set_fmpq(x->value, value);
}

void lie_algebraic_set_i(lie_algebraic* x) { qqbar_i(x->value); }

int lie_algebraic_add(lie_algebraic* x, const lie_algebraic* y) {
  if (!qqbar_binop_within_limits(x->value, y->value, kMostDegree, kMostBits)) return 0;
  qqbar_add(x->value, x->value, y->value);
  return 1;
}

int lie_algebraic_multiply(lie_algebraic* x, const lie_algebraic* y) {
  if (!qqbar_binop_within_limits(x->value, y->value, kMostDegree, kMostBits)) return 0;
  qqbar_mul(x->value, x->value, y->value);
  return 1;
}

int lie_algebraic_power(lie_algebraic* x, slong n) {
  const slong size = labs(n);
  if (size > 64 || size * qqbar_height_bits(x->value) > kMostBits) return 0;
  if (n < 0) {
    if (qqbar_is_zero(x->value)) return 0;
    qqbar_inv(x->value, x->value);
  }
  qqbar_pow_ui(x->value, x->value, (ulong)size);
  return 1;
}

int lie_algebraic_root(lie_algebraic* x, ulong n) {
  if (n == 0 || n > kMostDegree || (slong)n * qqbar_degree(x->value) > kMostDegree ||
      qqbar_height_bits(x->value) > kMostBits)
    return 0;
  qqbar_root_ui(x->value, x->value, n);
  return 1;
}

int lie_algebraic_equal(const lie_algebraic* x, const lie_algebraic* y) {
  return qqbar_equal(x->value, y->value);
}

slong lie_algebraic_degree(const lie_algebraic* x) { return qqbar_degree(x->value); }
