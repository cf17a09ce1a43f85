// Includes FLINT 2.9 with a separate Arb, or FLINT 3, which contains it.
#pragma once

#if __has_include(<flint/arb.h>)
#include <flint/acb.h>
#include <flint/arb.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#else
#include <acb.h>
#include <arb.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#endif
