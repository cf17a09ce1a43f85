// Encloses definite integrals by Gauss-Legendre quadrature with rigorous error bounds (Arb's
// acb_calc_integrate).
#include "verifier/scalar/ball_evaluator.h"

#include <algorithm>

#include "verifier/scalar/equality.h"

namespace lie::scalar {
namespace {

constexpr std::int64_t kMostPrecision = 192;  // bits; nodes for more take too long to compute
constexpr slong kRounding = 24;               // bits of the precision that may be lost
constexpr slong kMostEvaluations = 3000;
constexpr std::int64_t kStepsPerEvaluation = 10;
constexpr slong kMostPieces = 60;
constexpr int kMostNested = 2;  // integrals in each other: each multiplies the evaluations

struct Task {
  const BallEvaluator* outer = nullptr;
  const Expr* body = nullptr;
  std::string_view name;
};

bool may_be_zero(const arb_struct* x) { return arb_contains_zero(x) != 0; }

// Returns whether |x| < 1 is certain.
bool below_one(const arb_struct* x) {
  mag_t size;
  mag_init(size);
  arb_get_mag(size, x);
  const bool below = mag_cmp_2exp_si(size, 0) < 0;
  mag_clear(size);
  return below;
}

}  // namespace

bool BallEvaluator::off_cut(const Ball& x) {
  return arb_is_positive(acb_realref(x.get())) != 0 || !may_be_zero(acb_imagref(x.get()));
}

bool BallEvaluator::holomorphic(Fn fn, const Ball& x) {
  const arb_struct* real = acb_realref(x.get());
  const arb_struct* imaginary = acb_imagref(x.get());
  if (fn == Fn::kLn) return off_cut(x);
  if (is_one_of(fn, Fn::kArctan, Fn::kArsinh)) return below_one(imaginary) || !may_be_zero(real);
  if (is_one_of(fn, Fn::kArcsin, Fn::kArccos, Fn::kArtanh))
    return below_one(real) || !may_be_zero(imaginary);
  return is_one_of(fn, Fn::kSin, Fn::kCos, Fn::kTan, Fn::kCot, Fn::kSec, Fn::kCsc, Fn::kSinh,
                   Fn::kCosh, Fn::kTanh, Fn::kCoth, Fn::kSech, Fn::kCsch, Fn::kExp);
}

int BallEvaluator::evaluate_integrand(acb_ptr out, const acb_t x, void* task, slong order,
                                      slong precision) {
  const Task& wanted = *static_cast<const Task*>(task);
  BallEvaluator inner(wanted.outer->point_, precision, wanted.outer->budget_);
  inner.integrand_ = true;
  inner.level_ = wanted.outer->level_ + 1;
  inner.holomorphic_ = order > 0;
  inner.bound_ = wanted.outer->bound_;
  acb_set(inner.bound_[std::string(wanted.name)].get(), x);
  Ball value;
  const bool ok = inner.budget_.spend(kStepsPerEvaluation) && inner.eval(*wanted.body, value) &&
                  !inner.unevaluated_;
  if (ok)
    acb_swap(out, value.get());
  else
    acb_indeterminate(out);
  return 0;
}

bool BallEvaluator::integral(const Expr& e, Ball& out) {
  Ball low, high;
  if (level_ >= kMostNested || holomorphic_ || infinity_sign(*e.args[1]) != 0 ||
      infinity_sign(*e.args[2]) != 0 || !eval(*e.args[1], low) || !eval(*e.args[2], high))
    return false;
  Task task{this, e.args[0], e.name};
  const slong precision = std::min(precision_, kMostPrecision);
  acb_calc_integrate_opt_t options;
  acb_calc_integrate_opt_init(options);
  options->eval_limit = kMostEvaluations;
  options->depth_limit = kMostPieces;
  mag_t tolerance;
  mag_init(tolerance);
  const slong goal = precision - kRounding;
  mag_set_ui_2exp_si(tolerance, 1, -goal);
  const int status = acb_calc_integrate(out.get(), evaluate_integrand, &task, low.get(), high.get(),
                                        precision, tolerance, options, precision);
  mag_clear(tolerance);
  if (status != ARB_CALC_SUCCESS || !out.is_finite()) return false;
  integrated_ = true;
  return true;
}

}  // namespace lie::scalar
