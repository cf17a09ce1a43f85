/* Algebraic numbers by Calcium's qqbar, behind a C interface: before FLINT 3 its header does not
 * compile as C++. */
#pragma once

#if __has_include(<flint/fmpq.h>)
#include <flint/fmpq.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An algebraic number: a minimal polynomial and an enclosure of one of its roots. */
typedef struct lie_algebraic lie_algebraic;

lie_algebraic* lie_algebraic_new(void);
void lie_algebraic_free(lie_algebraic* x);

void lie_algebraic_set_rational(lie_algebraic* x, const fmpq_t value);
void lie_algebraic_set_i(lie_algebraic* x);

/* x += y, x *= y, x = x^n, x = the principal n-th root. 0 where the degree or the coefficients
   would grow beyond the limits (degree 16, 2,000 bits), or x is 0 and n negative; x is then
   unspecified. */
int lie_algebraic_add(lie_algebraic* x, const lie_algebraic* y);
int lie_algebraic_multiply(lie_algebraic* x, const lie_algebraic* y);
int lie_algebraic_power(lie_algebraic* x, slong n);
int lie_algebraic_root(lie_algebraic* x, ulong n);

int lie_algebraic_equal(const lie_algebraic* x, const lie_algebraic* y);
slong lie_algebraic_degree(const lie_algebraic* x);

#ifdef __cplusplus
}
#endif
