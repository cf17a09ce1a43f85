#include "verifier/scalar/ball_series.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "verifier/exact/rational.h"

namespace lie::scalar {
namespace {

using exact::Rational;

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
