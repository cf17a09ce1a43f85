#include "verifier/equal/ball.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "verifier/equal/rational_value.h"

namespace lie::equal {

using exact::Rational;
using expr::Expr;
using expr::Fn;
using expr::Op;

Ball& Ball::operator=(const Ball& other) {
  acb_set(value_, other.value_);
  return *this;
}

Ball& Ball::operator=(Ball&& other) noexcept {
  acb_swap(value_, other.value_);
  return *this;
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
  // An exponent this large or small has no business in a rational.
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

namespace {

class Evaluator {
 public:
  Evaluator(const Point& point, std::int64_t precision, Budget& budget)
      : point_(point), precision_(precision), budget_(budget) {}

  bool eval(const Expr& e, Ball& out) {
    if (!budget_.spend(1 + precision_ / 128) || !eval_op(e, out)) return false;
    return out.is_finite() && sane(out);
  }

 private:
  // Values whose exponents do not fit a machine word are out of reach for every function behind
  // them.
  bool sane(const Ball& value) {
    mag_t size;
    mag_init(size);
    acb_get_mag(size, value.get());
    const bool small = mag_cmp_2exp_si(size, std::int64_t{1} << 32) < 0;
    mag_clear(size);
    return small || budget_.exhaust();
  }

  void set(Ball& out, const Rational& value) { acb_set_fmpq(out.get(), value.get(), precision_); }

  bool eval_op(const Expr& e, Ball& out) {
    switch (e.op) {
      case Op::kNumber:
        set(out, e.value);
        return true;
      case Op::kSymbol:
        symbol(e, out);
        return true;
      case Op::kText:
        set(out, point_.value(fmt::format("text:{}", e.name)));
        return true;
      case Op::kConstant:
        return constant(e, out);
      case Op::kAdd:
        return fold(e, 0, acb_add, out);
      case Op::kMul:
        return fold(e, 1, acb_mul, out);
      case Op::kPow:
        return power(e, out);
      case Op::kPercent:
        return scaled(e, out, [this](Ball& x) { acb_div_ui(x.get(), x.get(), 100, precision_); });
      case Op::kDegree:
        return scaled(e, out, [this](Ball& x) { degrees(x); });
      case Op::kUnit:
        return eval(*e.args[0], out);
      case Op::kBased:
        return exactly(e, out);
      case Op::kRatio:
        return ratio(e, out);
      case Op::kFunction:
        return function(e, out);
      case Op::kBinder:
        return binder(e, out);
      case Op::kApply:
        return opaque(fmt::format("apply:{}", e.name), e, out);
      default:
        return false;
    }
  }

  void symbol(const Expr& e, Ball& out) {
    const auto at = bound_.find(e.name);
    set(out, at != bound_.end() ? at->second : point_.value(e.name));
  }

  bool constant(const Expr& e, Ball& out) {
    if (e.name == "pi")
      acb_const_pi(out.get(), precision_);
    else if (e.name == "i")
      acb_onei(out.get());
    else if (e.name == "e")
      arb_const_e(acb_realref(out.get()), precision_);
    else
      return false;
    return true;
  }

  using Binary = void (*)(acb_t, const acb_t, const acb_t, slong);
  bool fold(const Expr& e, slong start, Binary apply, Ball& out) {
    acb_set_si(out.get(), start);
    for (const Expr* arg : e.args) {
      Ball value;
      if (!eval(*arg, value)) return false;
      apply(out.get(), out.get(), value.get(), precision_);
    }
    return true;
  }

  template <typename Change>
  bool scaled(const Expr& e, Ball& out, Change change) {
    if (!eval(*e.args[0], out)) return false;
    change(out);
    return true;
  }

  void degrees(Ball& x) {
    Ball pi;
    acb_const_pi(pi.get(), precision_);
    acb_mul(x.get(), x.get(), pi.get(), precision_);
    acb_div_ui(x.get(), x.get(), 180, precision_);
  }

  bool exactly(const Expr& e, Ball& out) {
    const std::optional<Rational> value = rational_value(e, budget_);
    if (value) set(out, *value);
    return value.has_value();
  }

  bool ratio(const Expr& e, Ball& out) {
    Ball bottom;
    if (e.args.size() != 2 || !eval(*e.args[0], out) || !eval(*e.args[1], bottom)) return false;
    acb_div(out.get(), out.get(), bottom.get(), precision_);
    return true;
  }

  bool power(const Expr& e, Ball& out) {
    const Expr& exponent = *e.args[1];
    if (!eval(*e.args[0], out)) return false;
    if (exponent.op == Op::kNumber && exponent.value == Rational(1, 2)) {
      acb_sqrt(out.get(), out.get(), precision_);
      return true;
    }
    Ball value;
    if (!eval(exponent, value)) return false;
    // A base that may be 0 makes the logarithm of acb_pow infinite, but 0^2 is 0.
    if (acb_contains_zero(out.get()) != 0 && exponent.op == Op::kNumber &&
        exponent.value.is_integer()) {
      const std::optional<std::int64_t> n = exponent.value.small_integer();
      if (!n || *n <= 0 || *n > 1'000'000) return false;
      acb_pow_ui(out.get(), out.get(), static_cast<ulong>(*n), precision_);
      return true;
    }
    acb_pow(out.get(), out.get(), value.get(), precision_);
    return true;
  }

  // --- functions -------------------------------------------------------------------------------

  using Unary = void (*)(acb_t, const acb_t, slong);

  static Unary direct(Fn fn) {
    switch (fn) {
      case Fn::kSin:
        return acb_sin;
      case Fn::kCos:
        return acb_cos;
      case Fn::kTan:
        return acb_tan;
      case Fn::kCot:
        return acb_cot;
      case Fn::kSec:
        return acb_sec;
      case Fn::kCsc:
        return acb_csc;
      case Fn::kArcsin:
        return acb_asin;
      case Fn::kArccos:
        return acb_acos;
      case Fn::kArctan:
        return acb_atan;
      case Fn::kSinh:
        return acb_sinh;
      case Fn::kCosh:
        return acb_cosh;
      case Fn::kTanh:
        return acb_tanh;
      case Fn::kCoth:
        return acb_coth;
      case Fn::kSech:
        return acb_sech;
      case Fn::kCsch:
        return acb_csch;
      case Fn::kArsinh:
        return acb_asinh;
      case Fn::kArcosh:
        return acb_acosh;
      case Fn::kArtanh:
        return acb_atanh;
      case Fn::kExp:
        return acb_exp;
      case Fn::kLn:
        return acb_log;
      default:
        return nullptr;
    }
  }

  // Functions of the reciprocal: arccot x = arctan 1/x.
  static Unary of_reciprocal(Fn fn) {
    switch (fn) {
      case Fn::kArccot:
        return acb_atan;
      case Fn::kArcsec:
        return acb_acos;
      case Fn::kArccsc:
        return acb_asin;
      case Fn::kArcoth:
        return acb_atanh;
      case Fn::kArsech:
        return acb_acosh;
      case Fn::kArcsch:
        return acb_asinh;
      default:
        return nullptr;
    }
  }

  bool function(const Expr& e, Ball& out) {
    if (e.args.empty()) return false;
    if ((e.fn == Fn::kGcd || e.fn == Fn::kLcm) && exactly(e, out)) return true;
    if (e.args.size() > 1) return several(e, out);
    if (!eval(*e.args[0], out)) return false;
    if (const Unary unary = direct(e.fn)) {
      unary(out.get(), out.get(), precision_);
      return true;
    }
    if (const Unary unary = of_reciprocal(e.fn)) {
      acb_inv(out.get(), out.get(), precision_);
      unary(out.get(), out.get(), precision_);
      return true;
    }
    return single(e, out);
  }

  bool single(const Expr& e, Ball& out) {
    arb_struct* real = acb_realref(out.get());
    arb_struct* imaginary = acb_imagref(out.get());
    switch (e.fn) {
      case Fn::kAbs:
      case Fn::kNorm:
        acb_abs(real, out.get(), precision_);
        arb_zero(imaginary);
        return true;
      case Fn::kRe:
        arb_zero(imaginary);
        return true;
      case Fn::kIm:
        arb_set(real, imaginary);
        arb_zero(imaginary);
        return true;
      case Fn::kArg:
        acb_arg(real, out.get(), precision_);
        arb_zero(imaginary);
        return true;
      case Fn::kConjugate:
        arb_neg(imaginary, imaginary);
        return true;
      case Fn::kSign:
        return step(out, [](Ball& x) { acb_sgn(x.get(), x.get(), 64); });
      case Fn::kFloor:
        return step(out, [&](Ball& x) { arb_floor(acb_realref(x.get()), real, precision_); });
      case Fn::kCeil:
        return step(out, [&](Ball& x) { arb_ceil(acb_realref(x.get()), real, precision_); });
      case Fn::kFactorial:
        return factorial(out);
      case Fn::kGcd:
      case Fn::kLcm:
      case Fn::kMax:
      case Fn::kMin:
        return true;
      default:
        return opaque(fmt::format("fn{}", static_cast<int>(e.fn)), e, out);
    }
  }

  // A function with jumps: the result must be exact.
  template <typename Apply>
  static bool step(Ball& x, Apply apply) {
    apply(x);
    return acb_is_exact(x.get()) != 0;
  }

  bool factorial(Ball& x) {
    if (!x.within(40)) return budget_.exhaust();
    acb_add_ui(x.get(), x.get(), 1, precision_);
    acb_gamma(x.get(), x.get(), precision_);
    return true;
  }

  bool several(const Expr& e, Ball& out) {
    std::vector<Ball> args(e.args.size());
    for (std::size_t i = 0; i < args.size(); ++i)
      if (!eval(*e.args[i], args[i])) return false;
    switch (e.fn) {
      case Fn::kLog:
        return logarithm(args, out);
      case Fn::kRoot:
        return root(args, *e.args[1], out);
      case Fn::kBinomial:
        return binomial(args, out);
      case Fn::kMod:
        return modulo(args, out);
      case Fn::kMax:
      case Fn::kMin:
        return extreme(args, e.fn == Fn::kMax ? 1 : -1, out);
      default:
        return combine(fmt::format("fn{}", static_cast<int>(e.fn)), args, out);
    }
  }

  bool logarithm(std::vector<Ball>& args, Ball& out) {
    for (Ball& arg : args) acb_log(arg.get(), arg.get(), precision_);
    acb_div(out.get(), args[0].get(), args[1].get(), precision_);
    return true;
  }

  // The real root of a negative number where the degree is odd, else the principal root.
  bool root(std::vector<Ball>& args, const Expr& degree, Ball& out) {
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

  bool binomial(std::vector<Ball>& args, Ball& out) {
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

  bool modulo(std::vector<Ball>& args, Ball& out) {
    Ball quotient;
    acb_div(quotient.get(), args[0].get(), args[1].get(), precision_);
    arb_floor(acb_realref(quotient.get()), acb_realref(quotient.get()), precision_);
    if (!quotient.is_finite() || acb_is_exact(quotient.get()) == 0) return false;
    acb_mul(out.get(), quotient.get(), args[1].get(), precision_);
    acb_sub(out.get(), args[0].get(), out.get(), precision_);
    return true;
  }

  bool extreme(std::vector<Ball>& args, int sign, Ball& out) {
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

  // --- binders and unknown functions -----------------------------------------------------------

  bool binder(const Expr& e, Ball& out) {
    const bool adds = e.fn == Fn::kSum;
    if ((adds || e.fn == Fn::kProduct) && e.args.size() == 3 && !e.name.empty()) {
      const std::optional<Rational> lower = rational_value(*e.args[1], budget_);
      const std::optional<Rational> upper =
          lower ? rational_value(*e.args[2], budget_) : std::nullopt;
      if (upper && lower->is_integer() && upper->is_integer() && (*upper - *lower).bits() < 20)
        return term_by_term(e, *lower, *upper, adds, out);
    }
    const auto before = bound_;
    bound_[e.name] =
        Point{PointKind::kPositive, point_.seed}.value(fmt::format("bound{}", bound_.size()));
    const bool ok = opaque(fmt::format("binder{}", static_cast<int>(e.fn)), e, out);
    bound_ = before;
    return ok;
  }

  bool term_by_term(const Expr& e, const Rational& lower, const Rational& upper, bool adds,
                    Ball& out) {
    const auto before = bound_;
    acb_set_si(out.get(), adds ? 0 : 1);
    bool ok = true;
    for (Rational k = lower; ok && !(upper < k); k = k + Rational(1)) {
      bound_[e.name] = k;
      Ball term;
      ok = eval(*e.args[0], term);
      if (ok && adds) acb_add(out.get(), out.get(), term.get(), precision_);
      if (ok && !adds) acb_mul(out.get(), out.get(), term.get(), precision_);
    }
    bound_ = before;
    return ok;
  }

  bool opaque(const std::string& name, const Expr& e, Ball& out) {
    std::vector<Ball> args;
    for (const Expr* arg : e.args) {
      Ball value;
      // Infinity and the like go in by name.
      if (arg->op == Op::kConstant && arg->name == "infinity")
        set(value, Rational(977, 331));
      else if (arg->op == Op::kRelation || !eval(*arg, value))
        return false;
      args.push_back(std::move(value));
    }
    return combine(name, args, out);
  }

  // sin(1 + sum of c_j a_j) + 2, the c_j drawn from the name: one fixed function for each name.
  bool combine(const std::string& name, const std::vector<Ball>& args, Ball& out) {
    acb_one(out.get());
    for (std::size_t j = 0; j < args.size(); ++j) {
      Ball weight;
      set(weight, Point{PointKind::kPositive, 77}.value(fmt::format("{}#{}", name, j)));
      acb_addmul(out.get(), weight.get(), args[j].get(), precision_);
    }
    if (!out.within(64)) return false;
    acb_sin(out.get(), out.get(), precision_);
    acb_add_ui(out.get(), out.get(), 2, precision_);
    return true;
  }

  const Point& point_;
  std::int64_t precision_;
  Budget& budget_;
  std::map<std::string, Rational> bound_;
};

}  // namespace

std::optional<Ball> ball_at(const Expr& e, const Point& point, std::int64_t precision,
                            Budget& budget) {
  Ball out;
  if (!Evaluator(point, precision, budget).eval(e, out)) return std::nullopt;
  return out;
}

}  // namespace lie::equal
