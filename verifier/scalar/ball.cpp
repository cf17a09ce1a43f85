#include "verifier/scalar/ball.h"

#include <array>

namespace lie::scalar {
namespace {

using exact::Rational, expr::Fn;

// Returns a hash that is the same on every machine: FNV-1a, then the finalizer of SplitMix64.
std::uint64_t stable_hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t h = 14695981039346656037ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

}  // namespace

bool is_complex_name(std::string_view name) {
  const std::string_view letter = name.substr(0, name.find('_'));
  return letter == "z" || letter == "w" || letter == "Z" || letter == "W";
}

exact::Rational Point::value(std::string_view name) const {
  const std::uint64_t h = stable_hash(name, seed + 1);
  constexpr std::int64_t kUnit = std::int64_t{1} << 30;
  const auto fraction = static_cast<std::int64_t>(h >> 34);  // 30 bits
  if (kind == PointKind::kLarge)
    return exact::Rational(30 + static_cast<std::int64_t>((h >> 20) % 971));
  if (kind == PointKind::kBelow || kind == PointKind::kAbove) {
    // Multiples of 12, and eight successive seeds their distances to jumps of 2x, x/3 and the like.
    static constexpr std::array<int, 8> kTwelfths = {0, 12, 24, 36, 6, 4, 8, 3};
    const exact::Rational jump(144 * static_cast<std::int64_t>((h >> 20) % 80 + 3) +
                                   kTwelfths[(seed + stable_hash(name, 0)) % kTwelfths.size()],
                               12);
    const exact::Rational gap = exact::power(exact::Rational(2), -90);
    return kind == PointKind::kBelow ? jump - gap : jump + gap;
  }
  if (kind == PointKind::kInteger)
    return exact::Rational(1 + static_cast<std::int64_t>((h >> 20) % 24));
  const exact::Rational magnitude(kUnit / 2 + 2 * fraction, kUnit);
  return kind == PointKind::kMixed && (h & 1) != 0 ? -magnitude : magnitude;
}

bool Ball::looks_real() const {
  const arb_struct* imaginary = acb_imagref(value_);
  return arb_contains_zero(imaginary) != 0 && mag_cmp_2exp_si(arb_radref(imaginary), -30) < 0;
}

int Ball::real_sign() const {
  if (arb_is_positive(acb_realref(value_)) != 0) return 1;
  return arb_is_negative(acb_realref(value_)) != 0 ? -1 : 0;
}

bool Ball::within(std::int64_t exponent) const {
  mag_t size;
  mag_init(size);
  acb_get_mag(size, value_);
  const bool small = mag_cmp_2exp_si(size, exponent) < 0;
  mag_clear(size);
  return small;
}

Rational Ball::middle(bool imaginary) const {
  const arb_struct* part = imaginary ? acb_imagref(value_) : acb_realref(value_);
  Rational out;
  // A rational with such an exponent would be too large.
  if (arf_is_special(arb_midref(part)) != 0 || arf_cmpabs_2exp_si(arb_midref(part), 20000) > 0 ||
      arf_cmpabs_2exp_si(arb_midref(part), -20000) < 0)
    return out;
  arf_get_fmpq(out.get(), arb_midref(part));
  return out;
}

Ball difference(const Ball& a, const Ball& b, std::int64_t precision) {
  Ball out;
  acb_sub(out.get(), a.get(), b.get(), precision);
  return out;
}

// --- known functions ---

namespace {

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

// --- convergent series with infinitely many terms ---

namespace {

constexpr slong kPrecision = kSeriesPrecision;
constexpr std::size_t kTerms = 61;
constexpr std::int64_t kFar = 2000;  // the index from which convergence is judged
// Successive estimates agree to 2 to the first power, so that the second bounds the error.
constexpr std::int64_t kAgreement = -150, kError = -140;

// Returns Levin's u-transform of the first n terms. It is exact up to an error that decays
// geometrically for alternating, linear and logarithmic convergence.
Ball levin(const std::vector<Ball>& terms, std::size_t n) {
  Ball sum, above, below, weight;
  Rational factor(1);
  for (std::size_t k = 0; k < n; ++k) {
    const auto index = static_cast<std::int64_t>(k), last = static_cast<std::int64_t>(n) - 1;
    acb_add(sum.get(), sum.get(), terms[k].get(), kPrecision);
    const Rational scale = factor * exact::power(Rational(index + 1), last - 2);
    acb_set_fmpq(weight.get(), scale.get(), kPrecision);
    acb_div(weight.get(), weight.get(), terms[k].get(), kPrecision);
    acb_addmul(above.get(), weight.get(), sum.get(), kPrecision);
    acb_add(below.get(), below.get(), weight.get(), kPrecision);
    factor = factor * Rational(index - last, index + 1);  // (-1)^k times a binomial coefficient
  }
  acb_div(above.get(), above.get(), below.get(), kPrecision);
  return above;
}

// Returns whether the terms decay faster than 1/k, or alternate and decay, judging by two distant
// terms.
bool converges(const Term& term) {
  Ball near, far, next;
  if (!term(kFar, near) || !term(2 * kFar, far) || !term(2 * kFar + 1, next)) return false;
  const bool alternates =
      far.looks_real() && next.looks_real() && far.real_sign() * next.real_sign() < 0;
  Ball bound;
  acb_set_fmpq(bound.get(), Rational(alternates ? 95 : 47, 100).get(), kPrecision);
  acb_mul(bound.get(), bound.get(), near.get(), kPrecision);
  acb_abs(acb_realref(bound.get()), bound.get(), kPrecision);
  acb_abs(acb_realref(far.get()), far.get(), kPrecision);
  return arb_lt(acb_realref(far.get()), acb_realref(bound.get())) != 0;
}

}  // namespace

bool sum_series(const Term& term, Ball& out) {
  if (!converges(term)) return false;
  std::vector<Ball> terms(kTerms);
  for (std::size_t k = 0; k < kTerms; ++k)
    if (!term(static_cast<std::int64_t>(k), terms[k])) return false;
  out = levin(terms, kTerms);
  const Ball gap = difference(out, levin(terms, kTerms - 1), kPrecision);
  arb_add_error_2exp_si(acb_realref(out.get()), kError);
  if (!out.looks_real()) arb_add_error_2exp_si(acb_imagref(out.get()), kError);
  return out.is_finite() && gap.within(kAgreement);
}

}  // namespace lie::scalar
