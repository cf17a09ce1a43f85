// FLINT 2.9 with a separate Arb, and FLINT 3, which contains it, under the same include. Calcium's
// headers are C only before FLINT 3: see exact/algebraic.c.
#pragma once

#if __has_include(<flint/arb.h>)
#include <flint/acb.h>
#include <flint/acb_calc.h>
#include <flint/arb.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#else
#include <acb.h>
#include <acb_calc.h>
#include <arb.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#endif
