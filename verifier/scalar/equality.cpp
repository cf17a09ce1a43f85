#include "verifier/scalar/equality.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "verifier/scalar/ball_evaluator.h"
#include "verifier/scalar/rational_value.h"

namespace lie::scalar {
namespace {

using exact::Rational, expr::Expr, expr::Op;
namespace trait = expr::trait;

constexpr std::int64_t kFirstPrecision = 64;
constexpr std::int64_t kPointPrecision = 128;
// Agreement of series, whose balls have errors of about 2^-140.
constexpr std::int64_t kSeriesAgreement = -120;
// Differences below 2 to this power count as equality at a drawn point.
constexpr std::int64_t kSampleAgreement = -50;

// The values of both sides at a point.
struct AtPoint {
  Ball gold, answer;
  bool unevaluated = false, estimated = false, beyond_cut = false;
};

std::optional<AtPoint> at_point(const Expr& gold, const Expr& answer, const Point& point,
                                std::int64_t precision, Budget& budget) {
  std::optional<BallValue> a = ball_at(gold, point, precision, budget);
  std::optional<BallValue> b = a ? ball_at(answer, point, precision, budget) : std::nullopt;
  if (!b) return std::nullopt;
  return AtPoint{std::move(a->ball), std::move(b->ball), a->unevaluated || b->unevaluated,
                 a->estimated || b->estimated, a->beyond_cut || b->beyond_cut};
}

// Rounding leaves few digits of small values, so these must also agree to 10^(1 - places) of their
// size.
bool agree_relatively(const Rational& gold, const Rational& answer, std::int64_t places) {
  const Rational size = gold.sign() < 0 ? -gold : gold;
  if (!(size < Rational(1))) return true;
  const Rational gap = gold - answer;
  return !(size * exact::power_of_ten(1 - places) < (gap.sign() < 0 ? -gap : gap));
}

// --- numbers ---------------------------------------------------------------------------------

Tri equal_rounded(const Ball& a, const Ball& b, const VerifierOptions& options) {
  for (const bool imaginary : {false, true})
    if (!equal_numbers(a.middle(imaginary), b.middle(imaginary), true, options)) return Tri::kNo;
  return Tri::kYes;
}

// Returns the exponent of a power of ten such as 10^8, or nothing for any other value.
std::optional<std::int64_t> zeros_of(const Expr& e, Budget& budget) {
  std::optional<Rational> value = rational_value(e, budget);
  if (!value || value->sign() <= 0) return std::nullopt;
  std::int64_t zeros = 0;
  for (; zeros < 60 && Rational(1) < *value; ++zeros) *value = *value / Rational(10);
  for (; zeros > -60 && *value < Rational(1); --zeros) *value = *value * Rational(10);
  return *value == Rational(1) ? std::optional(zeros) : std::nullopt;
}

// Returns the places of the last written decimal, scaled by percent signs and powers of ten.
std::int64_t written_places(const Expr& e, Budget& budget) {
  std::int64_t places = 0;
  if (e.op == Op::kNumber && e.flag) {
    Rational scaled = e.value;
    for (; !scaled.is_integer() && places < 60; ++places) scaled = scaled * Rational(10);
  }
  std::int64_t zeros = e.op == Op::kPercent ? -2 : 0;
  for (const Expr* arg : e.args) {
    if (has_decimal(*arg))
      places = std::max(places, written_places(*arg, budget));
    else if (e.op == Op::kMul)
      zeros += zeros_of(*arg, budget).value_or(0);
  }
  return places - zeros;
}

// Allows half a unit of the last digit of the side that has fewer.
Tri within_half_ulp(const Expr& gold, const Expr& answer, const Ball& a, const Ball& b,
                    Budget& budget) {
  std::int64_t places = 1000;
  for (const Expr* side : {&gold, &answer})
    if (has_decimal(*side)) places = std::min(places, written_places(*side, budget));
  const Rational gap = a.middle(false) - b.middle(false);
  const Rational half = exact::power_of_ten(-places) * Rational(1, 2);
  return tri(!(half < (gap.sign() < 0 ? -gap : gap)) && a.middle(true) == b.middle(true));
}

Tri decimals_equal(const Expr& gold, const Expr& answer, const VerifierOptions& options,
                   Budget& budget) {
  const auto values = at_point(gold, answer, Point{}, 4 * kFirstPrecision, budget);
  if (!values || values->unevaluated) return Tri::kUnknown;
  if (options.decimals == DecimalRule::kHalfUlp)
    return within_half_ulp(gold, answer, values->gold, values->answer, budget);
  return equal_rounded(values->gold, values->answer, options);
}

Tri equal_constants(const Expr& gold, const Expr& answer, const VerifierOptions& options,
                    Budget& budget) {
  const bool decimal = has_decimal(gold) || has_decimal(answer);
  const std::optional<Rational> x = rational_value(gold, budget);
  const std::optional<Rational> y = x ? rational_value(answer, budget) : std::nullopt;
  if (x && y && !(decimal && options.decimals == DecimalRule::kHalfUlp))
    return tri(equal_numbers(*x, *y, decimal, options));
  for (std::int64_t precision = kFirstPrecision; precision <= options.max_precision;
       precision *= 4) {
    const auto values = at_point(gold, answer, Point{}, precision, budget);
    if (!values && budget.exhausted()) return Tri::kUnknown;
    if (!values) continue;
    if (decimal && options.decimals != DecimalRule::kExact)
      return decimals_equal(gold, answer, options, budget);
    const Ball gap = difference(values->gold, values->answer, precision);
    if (!gap.contains_zero()) return values->unevaluated ? Tri::kUnknown : Tri::kNo;
    const std::int64_t agreement = values->estimated ? kSeriesAgreement : -precision / 2;
    if (4 * precision > options.max_precision && gap.within(agreement)) return Tri::kYes;
  }
  return Tri::kUnknown;
}

// --- functions of names ----------------------------------------------------------------------

// Returns whether both sides agree at one point, kUnknown if functions that are not evaluated
// differ, and nothing if the point is not decisive. With `real`, only real values are compared:
// beyond a branch cut, where a side or a root in it is complex, roots may have another meaning.
std::optional<Tri> agree_at(const Expr& gold, const Expr& answer, const Point& point, bool real,
                            Budget& budget) {
  for (std::int64_t precision = kPointPrecision; precision <= 4 * kPointPrecision; precision *= 2) {
    const auto values = at_point(gold, answer, point, precision, budget);
    if (!values) return std::nullopt;
    const bool is_real = values->gold.looks_real() && values->answer.looks_real();
    if (real && (!is_real || values->beyond_cut)) return std::nullopt;
    const Ball gap = difference(values->gold, values->answer, precision);
    if (!gap.contains_zero()) return values->unevaluated ? Tri::kUnknown : Tri::kNo;
    if (gap.within(kSampleAgreement)) return Tri::kYes;
  }
  return std::nullopt;
}

Tri agree_at_points(const Expr& gold, const Expr& answer, PointKind kind, bool real,
                    Budget& budget) {
  const std::uint64_t points = kind == PointKind::kCovering ? 60
                               : kind == PointKind::kWide   ? 16
                                                            : 8;
  Tri out = Tri::kUnknown;
  for (std::uint64_t seed = 1; seed <= points && !budget.exhausted(); ++seed) {
    const std::optional<Tri> here = agree_at(gold, answer, {kind, seed}, real, budget);
    if (here && *here != Tri::kYes) return *here;
    if (here) out = Tri::kYes;
  }
  return budget.exhausted() ? Tri::kUnknown : out;
}

// The names z and w stand for complex numbers if i occurs.
bool speaks_of_complex(const Expr& gold, const Expr& answer) {
  if (!gold.has(trait::kImaginary) && !answer.has(trait::kImaginary)) return false;
  return std::ranges::any_of(free_names(gold), is_complex_name) ||
         std::ranges::any_of(free_names(answer), is_complex_name);
}

bool has_steps(const Expr& e) { return e.has(trait::kStep); }

// Returns whether all names usually stand for whole numbers.
bool are_whole(const Expr& e) { return std::ranges::all_of(free_names(e), is_whole_name); }

constexpr std::array kStepPoints = {PointKind::kLarge, PointKind::kBelow, PointKind::kAbove};

constexpr std::array kBendPoints = {PointKind::kMixed, PointKind::kWide};

// Returns whether an expression has no names but those of its sums, integrals and the like.
bool has_no_free_name(const Expr& e) {
  return !has_names(e) ||
         (has_binder(e) && !e.has(trait::kCall | trait::kText) && free_names(e).empty());
}

// Returns whether a logarithm of bars occurs, as in \ln|x|.
bool has_log_of_bars(const Expr& e) {
  const bool here =
      is_one_of(e.fn, expr::Fn::kLn, expr::Fn::kLog) && e.args[0]->fn == expr::Fn::kAbs;
  return here || any_arg(e, has_log_of_bars);
}

// Returns whether the answer lacks the values that the bars of a logarithm give to the gold.
bool lacks_bars(const Expr& gold, const Expr& answer, Budget& budget) {
  constexpr std::uint64_t kPoints = 8;
  if (!has_log_of_bars(gold)) return false;
  for (std::uint64_t seed = 1; seed <= kPoints; ++seed) {
    const auto values = at_point(gold, answer, {PointKind::kMixed, seed}, kPointPrecision, budget);
    if (values && values->gold.looks_real() && !values->answer.looks_real()) return true;
  }
  return false;
}

Tri equal_functions(const Expr& gold, const Expr& answer, Budget& budget) {
  if (gold.has(trait::kCommon) || answer.has(trait::kCommon)) {
    const Tri small = agree_at_points(gold, answer, PointKind::kCovering, false, budget);
    if (small != Tri::kYes) return small;
    return agree_at_points(gold, answer, PointKind::kLarge, false, budget);
  }
  const bool steps = has_steps(gold) || has_steps(answer);
  // (-1)^n means whole n.
  const bool signs = gold.has(trait::kSignPower) || answer.has(trait::kSignPower);
  if (signs || (steps && are_whole(gold) && are_whole(answer))) {
    const Tri small = agree_at_points(gold, answer, PointKind::kCovering, false, budget);
    return small == Tri::kYes && steps
               ? agree_at_points(gold, answer, PointKind::kLarge, false, budget)
               : small;
  }
  if (speaks_of_complex(gold, answer) &&
      agree_at_points(gold, answer, PointKind::kComplex, false, budget) == Tri::kNo)
    return Tri::kNo;
  if (steps) {
    for (const PointKind kind : kStepPoints)
      if (const Tri here = agree_at_points(gold, answer, kind, false, budget); here != Tri::kYes)
        return here;
  }
  // The places of bends are not known: |x - 10| is 10 - x at small points.
  const bool bends = gold.has(trait::kBend) || answer.has(trait::kBend);
  const Tri wide =
      bends ? agree_at_points(gold, answer, PointKind::kWide, true, budget) : Tri::kUnknown;
  if (wide == Tri::kNo) return Tri::kNo;
  const bool real = !gold.has(trait::kImaginary) && !answer.has(trait::kImaginary);
  const Tri positive = agree_at_points(gold, answer, PointKind::kPositive, real, budget);
  if (positive == Tri::kNo) return Tri::kNo;
  const Tri mixed = agree_at_points(gold, answer, PointKind::kMixed, true, budget);
  if (mixed == Tri::kNo) return Tri::kNo;
  if (positive == Tri::kYes || mixed == Tri::kYes || wide == Tri::kYes)
    return tri(!(real && lacks_bars(gold, answer, budget)));
  const Tri complex = agree_at_points(gold, answer, PointKind::kPositive, false, budget);
  return complex != Tri::kUnknown
             ? complex
             : agree_at_points(gold, answer, PointKind::kInteger, false, budget);
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

// --- equality --------------------------------------------------------------------------------

Tri equal_scalars(const Expr& gold, const Expr& answer, const VerifierOptions& options,
                  Budget& budget) {
  const int infinite = infinity_sign(gold);
  const int answered = infinity_sign(answer);
  if (infinite != answered)  // an unevaluated side may be infinite
    return has_binder(gold) || has_binder(answer) ? Tri::kUnknown : Tri::kNo;
  if (infinite != 0) return Tri::kYes;
  // Any other expression with an infinity, such as infinity - infinity, has no value.
  if (gold.has(trait::kInfinity) || answer.has(trait::kInfinity)) return Tri::kNo;
  if (has_no_free_name(gold) && has_no_free_name(answer))
    return equal_constants(gold, answer, options, budget);
  return equal_functions(gold, answer, budget);
}

Tri proportional(const Expr& a, const Expr& b, bool positive, Budget& budget) {
  std::optional<Ball> first, value;
  int agreeing = 0;
  const bool steps = has_steps(a) || has_steps(b);
  const bool bends = (a.has(trait::kBend) || b.has(trait::kBend)) && !speaks_of_complex(a, b);
  const std::array usual = {PointKind::kMixed,
                            speaks_of_complex(a, b) ? PointKind::kComplex : PointKind::kPositive};
  std::span<const PointKind> kinds = usual;
  if (bends) kinds = kBendPoints;
  if (steps) kinds = kStepPoints;
  const bool thorough = steps || bends;
  const std::uint64_t points = thorough ? (steps ? 8 : 16) * kinds.size() : 8;
  bool varies = false;  // any two constants are proportional
  for (std::uint64_t seed = 1; seed <= points && (thorough || agreeing < 4); ++seed) {
    const Point point{kinds[seed % kinds.size()], thorough ? seed / kinds.size() : seed};
    auto values = at_point(a, b, point, kPointPrecision, budget);
    if (!values || values->answer.contains_zero() || values->gold.contains_zero()) continue;
    varies =
        varies || (value && !difference(*value, values->gold, kPointPrecision).contains_zero());
    value = values->gold;
    Ball ratio;
    acb_div(ratio.get(), values->gold.get(), values->answer.get(), kPointPrecision);
    if (positive && !(ratio.looks_real() && ratio.real_sign() > 0)) return Tri::kNo;
    if (first && !difference(*first, ratio, kPointPrecision).contains_zero()) return Tri::kNo;
    if (!first)
      first = std::move(ratio);
    else
      ++agreeing;
  }
  if (agreeing == 0 || budget.exhausted()) return Tri::kUnknown;
  return tri(varies);
}

int compare_reals(const Expr& a, const Expr& b, const VerifierOptions& options, Budget& budget) {
  const int left = infinity_sign(a);
  const int right = infinity_sign(b);
  if (left != 0 || right != 0) return left == right ? 0 : left < right ? -1 : 1;
  const std::optional<Rational> x = rational_value(a, budget);
  const std::optional<Rational> y = x ? rational_value(b, budget) : std::nullopt;
  if (y) return *x == *y ? 0 : *x < *y ? -1 : 1;
  for (std::int64_t precision = kFirstPrecision; precision <= options.max_precision;
       precision *= 4) {
    const auto values = at_point(a, b, Point{}, precision, budget);
    if (!values || !values->gold.looks_real() || !values->answer.looks_real()) return 2;
    const int sign = difference(values->gold, values->answer, precision).real_sign();
    if (sign != 0) return sign;
  }
  return equal_constants(a, b, options, budget) == Tri::kYes ? 0 : 2;
}

}  // namespace lie::scalar
