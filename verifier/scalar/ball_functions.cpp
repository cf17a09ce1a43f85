// Evaluates the known functions in balls.
#include <fmt/format.h>

#include "verifier/scalar/ball_evaluator.h"

namespace lie::scalar {

BallEvaluator::Unary BallEvaluator::direct(Fn fn) {
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

bool BallEvaluator::function(const Expr& e, Ball& out) {
  if (e.args.empty()) return false;
  if (e.args.size() > 1) return several(e, out);
  if (!eval(*e.args[0], out)) return false;
  if (const Unary unary = direct(e.fn)) {
    unary(out.get(), out.get(), precision_);
    return true;
  }
  return single(e, out);
}

bool BallEvaluator::single(const Expr& e, Ball& out) {
  arb_struct* real = acb_realref(out.get());
  arb_struct* imaginary = acb_imagref(out.get());
  switch (e.fn) {
    case Fn::kAbs:
    case Fn::kNorm:
      acb_abs(real, out.get(), precision_);
      arb_zero(imaginary);
      return true;
    case Fn::kFloor:
      return step(out, [&](Ball& x) { arb_floor(acb_realref(x.get()), real, precision_); });
    case Fn::kCeil:
      return step(out, [&](Ball& x) { arb_ceil(acb_realref(x.get()), real, precision_); });
    case Fn::kFactorial: return factorial(out);
    case Fn::kGcd:
    case Fn::kLcm:
    case Fn::kMax:
    case Fn::kMin: return true;
    default:
      unevaluated_ = true;
      return opaque(fmt::format("fn{}", static_cast<int>(e.fn)), e, out);
  }
}

bool BallEvaluator::factorial(Ball& x) {
  if (!x.within(40)) return budget_.exhaust();
  acb_add_ui(x.get(), x.get(), 1, precision_);
  acb_gamma(x.get(), x.get(), precision_);
  return true;
}

bool BallEvaluator::several(const Expr& e, Ball& out) {
  std::vector<Ball> args(e.args.size());
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!eval(*e.args[i], args[i])) return false;
  switch (e.fn) {
    case Fn::kLog: return logarithm(args, out);
    case Fn::kRoot: return root(args, *e.args[1], out);
    case Fn::kBinomial: return binomial(args, out);
    case Fn::kMod: return modulo(args, out);
    case Fn::kMax:
    case Fn::kMin: return extreme(args, e.fn == Fn::kMax ? 1 : -1, out);
    case Fn::kGcd:
    case Fn::kLcm: return common(args, e.fn == Fn::kGcd, out);
    default:
      unevaluated_ = true;
      return combine(fmt::format("fn{}", static_cast<int>(e.fn)), args, out);
  }
}

bool BallEvaluator::logarithm(std::vector<Ball>& args, Ball& out) {
  for (Ball& arg : args) acb_log(arg.get(), arg.get(), precision_);
  acb_div(out.get(), args[0].get(), args[1].get(), precision_);
  return true;
}

// Returns the real root of a negative number where the degree is odd, and otherwise the principal
// root.
bool BallEvaluator::root(std::vector<Ball>& args, const Expr& degree, Ball& out) {
  const bool odd = degree.op == Op::kNumber && degree.value.is_integer() &&
                   fmpz_is_odd(degree.value.numerator()) != 0 && args[0].looks_real() &&
                   args[0].real_sign() < 0;
  if (odd) acb_neg(args[0].get(), args[0].get());
  if (odd) arb_zero(acb_imagref(args[0].get()));
  acb_inv(args[1].get(), args[1].get(), precision_);
  acb_pow(out.get(), args[0].get(), args[1].get(), precision_);
  if (odd) acb_neg(out.get(), out.get());
  return true;
}

bool BallEvaluator::binomial(std::vector<Ball>& args, Ball& out) {
  if (!args[0].within(40) || !args[1].within(40)) return budget_.exhaust();
  Ball rest = difference(args[0], args[1], precision_);
  for (Ball* part : {&args[0], &args[1], &rest}) {
    acb_add_ui(part->get(), part->get(), 1, precision_);
    if (part == &args[0])
      acb_gamma(part->get(), part->get(), precision_);
    else
      acb_rgamma(part->get(), part->get(), precision_);
  }
  acb_mul(out.get(), args[0].get(), args[1].get(), precision_);
  acb_mul(out.get(), out.get(), rest.get(), precision_);
  return true;
}

bool BallEvaluator::modulo(std::vector<Ball>& args, Ball& out) {
  Ball quotient;
  acb_div(quotient.get(), args[0].get(), args[1].get(), precision_);
  arb_floor(acb_realref(quotient.get()), acb_realref(quotient.get()), precision_);
  if (!quotient.is_finite() || acb_is_exact(quotient.get()) == 0) return false;
  acb_mul(out.get(), quotient.get(), args[1].get(), precision_);
  acb_sub(out.get(), args[0].get(), out.get(), precision_);
  return true;
}

bool BallEvaluator::extreme(std::vector<Ball>& args, int sign, Ball& out) {
  out = args.front();
  for (const Ball& arg : args) {
    if (!arg.looks_real()) return false;
    if (sign > 0)
      arb_max(acb_realref(out.get()), acb_realref(out.get()), acb_realref(arg.get()), precision_);
    else
      arb_min(acb_realref(out.get()), acb_realref(out.get()), acb_realref(arg.get()), precision_);
  }
  return true;
}

// Only whole numbers have a gcd and lcm.
bool BallEvaluator::common(const std::vector<Ball>& args, bool gcd, Ball& out) {
  Rational all, next;
  for (const Ball& arg : args) {
    if (acb_get_unique_fmpz(fmpq_numref(next.get()), arg.get()) == 0) return false;
    if (&arg == &args.front())
      fmpz_abs(fmpq_numref(all.get()), next.numerator());
    else
      (gcd ? fmpz_gcd : fmpz_lcm)(fmpq_numref(all.get()), all.numerator(), next.numerator());
  }
  set(out, all);
  return true;
}
}  // namespace lie::scalar
