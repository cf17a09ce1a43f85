#include "verifier/scalar/ball_functions.h"

namespace lie::scalar {
namespace {

using exact::Rational, expr::Fn;

using Unary = void (*)(acb_t, const acb_t, slong);

Unary direct(Fn fn) {
  switch (fn) {
    case Fn::kSin: return acb_sin;
    case Fn::kCos: return acb_cos;
    case Fn::kTan: return acb_tan;
    case Fn::kCot: return acb_cot;
    case Fn::kSec: return acb_sec;
    case Fn::kCsc: return acb_csc;
    case Fn::kArcsin: return acb_asin;
    case Fn::kArccos: return acb_acos;
    case Fn::kArctan: return acb_atan;
    case Fn::kSinh: return acb_sinh;
    case Fn::kCosh: return acb_cosh;
    case Fn::kTanh: return acb_tanh;
    case Fn::kArsinh: return acb_asinh;
    case Fn::kArcosh: return acb_acosh;
    case Fn::kArtanh: return acb_atanh;
    case Fn::kExp: return acb_exp;
    case Fn::kLn: return acb_log;
    default: return nullptr;
  }
}

// Returns the function that takes 1/x to the value of an inverse function at x, or nullptr. That of
// the cotangent is arctan for positive x only: conventions differ for others.
Unary of_reciprocal(Fn fn, const Ball& x) {
  switch (fn) {
    case Fn::kArccot: return x.looks_real() && x.real_sign() > 0 ? acb_atan : nullptr;
    case Fn::kArcsec: return acb_acos;
    case Fn::kArccsc: return acb_asin;
    default: return nullptr;
  }
}

// Applies a function with jumps, whose result must be exact.
bool step(void (*apply)(arb_t, const arb_t, slong), Ball& x, std::int64_t precision) {
  apply(acb_realref(x.get()), acb_realref(x.get()), precision);
  return acb_is_exact(x.get()) != 0;
}

bool factorial(Ball& x, std::int64_t precision, Budget& budget) {
  if (!x.within(40)) return budget.exhaust();
  acb_add_ui(x.get(), x.get(), 1, precision);
  acb_gamma(x.get(), x.get(), precision);
  return true;
}

bool logarithm(std::vector<Ball>& args, std::int64_t precision, Ball& out) {
  for (Ball& arg : args) acb_log(arg.get(), arg.get(), precision);
  acb_div(out.get(), args[0].get(), args[1].get(), precision);
  return true;
}

bool binomial(std::vector<Ball>& args, std::int64_t precision, Budget& budget, Ball& out) {
  if (!args[0].within(40) || !args[1].within(40)) return budget.exhaust();
  Ball rest = difference(args[0], args[1], precision);
  for (Ball* part : {&args[0], &args[1], &rest}) {
    acb_add_ui(part->get(), part->get(), 1, precision);
    if (part == &args[0])
      acb_gamma(part->get(), part->get(), precision);
    else
      acb_rgamma(part->get(), part->get(), precision);
  }
  acb_mul(out.get(), args[0].get(), args[1].get(), precision);
  acb_mul(out.get(), out.get(), rest.get(), precision);
  return true;
}

bool modulo(const std::vector<Ball>& args, std::int64_t precision, Ball& out) {
  Ball quotient;
  acb_div(quotient.get(), args[0].get(), args[1].get(), precision);
  arb_floor(acb_realref(quotient.get()), acb_realref(quotient.get()), precision);
  if (!quotient.is_finite() || acb_is_exact(quotient.get()) == 0) return false;
  acb_mul(out.get(), quotient.get(), args[1].get(), precision);
  acb_sub(out.get(), args[0].get(), out.get(), precision);
  return true;
}

bool extreme(const std::vector<Ball>& args, bool greatest, std::int64_t precision, Ball& out) {
  for (const Ball& arg : args) {
    if (!arg.looks_real()) return false;
    (greatest ? arb_max : arb_min)(acb_realref(out.get()), acb_realref(out.get()),
                                   acb_realref(arg.get()), precision);
  }
  return true;
}

// Only whole numbers have a gcd and lcm.
bool common(const std::vector<Ball>& args, bool gcd, std::int64_t precision, Ball& out) {
  Rational all, next;
  for (const Ball& arg : args) {
    if (acb_get_unique_fmpz(fmpq_numref(next.get()), arg.get()) == 0) return false;
    if (&arg == &args.front())
      fmpz_abs(fmpq_numref(all.get()), next.numerator());
    else
      (gcd ? fmpz_gcd : fmpz_lcm)(fmpq_numref(all.get()), all.numerator(), next.numerator());
  }
  acb_set_fmpq(out.get(), all.get(), precision);
  return true;
}

}  // namespace

std::optional<bool> apply_function(Fn fn, std::vector<Ball>& args, std::int64_t precision,
                                   Budget& budget, Ball& out) {
  out = args.front();
  if (const Unary unary = direct(fn)) {
    unary(out.get(), out.get(), precision);
    return true;
  }
  if (const Unary unary = of_reciprocal(fn, out)) {
    acb_inv(out.get(), out.get(), precision);
    unary(out.get(), out.get(), precision);
    return true;
  }
  switch (fn) {
    case Fn::kAbs:
    case Fn::kNorm:
      acb_abs(acb_realref(out.get()), out.get(), precision);
      arb_zero(acb_imagref(out.get()));
      return true;
    case Fn::kFloor: return step(arb_floor, out, precision);
    case Fn::kCeil: return step(arb_ceil, out, precision);
    case Fn::kFactorial: return factorial(out, precision, budget);
    case Fn::kLog: return logarithm(args, precision, out);
    case Fn::kBinomial: return binomial(args, precision, budget, out);
    case Fn::kMod: return modulo(args, precision, out);
    case Fn::kMax:
    case Fn::kMin: return args.size() == 1 || extreme(args, fn == Fn::kMax, precision, out);
    case Fn::kGcd:
    case Fn::kLcm: return args.size() == 1 || common(args, fn == Fn::kGcd, precision, out);
    default: return std::nullopt;
  }
}

}  // namespace lie::scalar
