#include "verifier/scalar/decimals.h"

namespace lie::scalar {

using exact::Rational;

namespace {

// Rounding leaves few digits of small values, so these must also agree to 10^(1 - places) of their
// size.
bool agree_relatively(const Rational& gold, const Rational& answer, std::int64_t places) {
  const Rational size = gold.sign() < 0 ? -gold : gold;
  if (!(size < Rational(1))) return true;
  const Rational gap = gold - answer;
  return !(size * exact::power_of_ten(1 - places) < (gap.sign() < 0 ? -gap : gap));
}

}  // namespace

bool equal_numbers(const Rational& gold, const Rational& answer, bool decimal,
                   const VerifierOptions& options) {
  if (gold == answer) return true;
  if (!decimal || options.decimals != DecimalRule::kPlaces) return false;
  const Rational a = exact::round_to_places(gold, options.decimal_places);
  if (!(a == exact::round_to_places(answer, options.decimal_places))) return false;
  return agree_relatively(gold, answer, options.decimal_places);
}

}  // namespace lie::scalar
