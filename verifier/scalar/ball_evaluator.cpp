#include "verifier/scalar/ball_evaluator.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verifier/scalar/ball_functions.h"
#include "verifier/scalar/ball_series.h"
#include "verifier/scalar/rational_value.h"

namespace lie::scalar {
namespace {

using exact::Rational, expr::Expr, expr::Fn, expr::Op;

class BallEvaluator {
 public:
  BallEvaluator(const Point& point, std::int64_t precision, Budget& budget)
      : point_(point), precision_(precision), budget_(budget) {}

  bool unevaluated() const { return unevaluated_; }
  bool estimated() const { return estimated_; }
  bool beyond_cut() const { return beyond_cut_; }

  bool eval(const Expr& e, Ball& out) {
    if (!budget_.spend(1 + precision_ / 128) || !eval_op(e, out)) return false;
    if (!out.is_finite()) return false;
    // Functions do not take values whose exponents exceed a machine word. At a far point this says
    // nothing about others.
    return out.within(std::int64_t{1} << 32) ||
           (point_.kind != PointKind::kWide && budget_.exhaust());
  }

 private:
  void set(Ball& out, const Rational& value) { acb_set_fmpq(out.get(), value.get(), precision_); }

  bool eval_op(const Expr& e, Ball& out) {
    switch (e.op) {
      case Op::kNumber: set(out, e.value); return true;
      case Op::kSymbol: symbol(e, out); return true;
      case Op::kText: set(out, point_.value(fmt::format("text:{}", e.name))); return true;
      case Op::kConstant: return constant(e, out);
      case Op::kAdd: return fold(e, 0, acb_add, out);
      case Op::kMul: return fold(e, 1, acb_mul, out);
      case Op::kPow: return power(e, out);
      case Op::kPercent: acb_set_ui(out.get(), 100); return divide_into(*e.args[0], out);
      case Op::kDegree:
        acb_const_pi(out.get(), precision_);
        acb_inv(out.get(), out.get(), precision_);
        acb_mul_ui(out.get(), out.get(), 180, precision_);
        return divide_into(*e.args[0], out);
      case Op::kUnit: return eval(*e.args[0], out);
      case Op::kApply:
        unevaluated_ = unevaluated_ || is_operation(e);
        return opaque(fmt::format("apply:{}", e.name), e, out);
      case Op::kFunction: return function(e, out);
      case Op::kBinder: return binder(e, out);
      default: return false;
    }
  }

  void symbol(const Expr& e, Ball& out) {
    const auto at = bound_.find(e.name);
    if (at != bound_.end()) {
      out = at->second;
      return;
    }
    set(out, point_.value(e.name));
    if (point_.kind == PointKind::kComplex && is_complex_name(e.name))
      arb_set_fmpq(acb_imagref(out.get()), point_.value(fmt::format("imaginary:{}", e.name)).get(),
                   precision_);
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

  // Sets `out` to e / out.
  bool divide_into(const Expr& e, Ball& out) {
    Ball value;
    if (!eval(e, value)) return false;
    acb_div(out.get(), value.get(), out.get(), precision_);
    return true;
  }

  bool power(const Expr& e, Ball& out) {
    const Expr& exponent = *e.args[1];
    if (!eval(*e.args[0], out)) return false;
    if (exponent.op == Op::kNumber && exponent.value == Rational(1, 2)) {
      beyond_cut_ = beyond_cut_ || out.real_sign() < 0;
      acb_sqrt(out.get(), out.get(), precision_);
      return true;
    }
    Ball value;
    if (!eval(exponent, value)) return false;
    // If the base may be 0, acb_pow has an infinite logarithm, although 0^2 is 0.
    if (acb_contains_zero(out.get()) != 0 && exponent.op == Op::kNumber &&
        exponent.value.is_integer()) {
      const std::optional<std::int64_t> n = exponent.value.small_integer();
      if (!n || *n <= 0 || *n > 1'000'000) return false;
      acb_pow_ui(out.get(), out.get(), static_cast<ulong>(*n), precision_);
      return true;
    }
    const bool whole_power = exponent.op == Op::kNumber && exponent.value.is_integer();
    const bool rooted = !whole_power && out.looks_real() && out.real_sign() < 0;
    const std::optional<Rational> root = rooted ? rational_value(exponent, budget_) : std::nullopt;
    if (root && fmpz_is_odd(root->denominator()) != 0) return odd_root(*root, value, out);
    beyond_cut_ = beyond_cut_ || rooted;
    acb_pow(out.get(), out.get(), value.get(), precision_);
    return true;
  }

  // Raises a negative number to a fraction with an odd denominator, as in (-8)^{1/3} = -2.
  bool odd_root(const Rational& exponent, const Ball& value, Ball& out) {
    acb_neg(out.get(), out.get());
    arb_zero(acb_imagref(out.get()));
    acb_pow(out.get(), out.get(), value.get(), precision_);
    if (fmpz_is_odd(exponent.numerator()) != 0) acb_neg(out.get(), out.get());
    return true;
  }

  // Returns the value of a name if it is certainly rational.
  std::optional<Rational> rational(std::string_view name) const {
    if (point_.kind == PointKind::kComplex && is_complex_name(name)) return std::nullopt;
    const auto at = bound_.find(std::string(name));
    if (at == bound_.end()) return point_.value(name);
    Rational out;
    const bool whole = acb_get_unique_fmpz(fmpq_numref(out.get()), at->second.get()) != 0;
    return whole ? std::optional(std::move(out)) : std::nullopt;
  }

  bool function(const Expr& e, Ball& out) {
    // A ball around the place of a jump has no floor.
    if (is_one_of(e.fn, Fn::kFloor, Fn::kCeil, Fn::kMod)) {
      const auto names = [this](std::string_view name) { return rational(name); };
      if (const std::optional<Rational> value = rational_value(e, names, budget_)) {
        set(out, *value);
        return true;
      }
    }
    std::vector<Ball> args(e.args.size());
    for (std::size_t i = 0; i < args.size(); ++i)
      if (!eval(*e.args[i], args[i])) return false;
    if (args.empty()) return false;
    if (const std::optional<bool> done = apply_function(e.fn, args, precision_, budget_, out))
      return *done;
    unevaluated_ = true;
    return combine(fmt::format("fn{}", static_cast<int>(e.fn)), args, out);
  }

  bool binder(const Expr& e, Ball& out) {
    const bool adds = e.fn == Fn::kSum;
    if ((adds || e.fn == Fn::kProduct) && e.args.size() == 3 && !e.name.empty()) {
      Rational lower, upper;
      const bool starts = whole(*e.args[1], lower);
      if (starts && whole(*e.args[2], upper) && (upper - lower).bits() < 20)
        return term_by_term(e, lower, upper, adds, out);
      if (adds && starts && infinity_sign(*e.args[2]) == 1 && series(e, lower, out)) return true;
    }
    unevaluated_ = true;
    const auto before = bound_;
    set(bound_[e.name],
        Point{PointKind::kPositive, point_.seed}.value(fmt::format("bound{}", before.size())));
    const bool ok = opaque(fmt::format("binder{}", static_cast<int>(e.fn)), e, out);
    bound_ = before;
    return ok;
  }

  bool series(const Expr& e, const Rational& lower, Ball& out) {
    const auto outer = bound_;
    const std::int64_t precision = std::exchange(precision_, kSeriesPrecision);
    const auto term = [&](std::int64_t index, Ball& value) {
      set(bound_[e.name], lower + Rational(index));
      return eval(*e.args[0], value);
    };
    const bool ok = sum_series(term, out);
    bound_ = outer;
    precision_ = precision;
    estimated_ = estimated_ || ok;
    return ok;
  }

  // Evaluates a bound that is certainly a whole number.
  bool whole(const Expr& e, Rational& out) {
    Ball value;
    return eval(e, value) && acb_get_unique_fmpz(fmpq_numref(out.get()), value.get()) != 0;
  }

  bool term_by_term(const Expr& e, const Rational& lower, const Rational& upper, bool adds,
                    Ball& out) {
    const auto before = bound_;
    acb_set_si(out.get(), adds ? 0 : 1);
    bool ok = true;
    for (Rational k = lower; ok && !(upper < k); k = k + Rational(1)) {
      set(bound_[e.name], k);
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
      // Infinity is replaced by a fixed number.
      if (arg->op == Op::kConstant && arg->name == "infinity")
        set(value, Rational(977, 331));
      else if (arg->op == Op::kRelation || !eval(*arg, value))
        return false;
      args.push_back(std::move(value));
    }
    return combine(name, args, out);
  }

  // Computes sin(c + sum of c_j a_j) + 2, with constants drawn from the name. The constant c
  // distinguishes names when all arguments are 0.
  bool combine(const std::string& name, const std::vector<Ball>& args, Ball& out) {
    set(out, Point{PointKind::kPositive, 77}.value(name));
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
  bool unevaluated_ = false, estimated_ = false, beyond_cut_ = false;
  std::map<std::string, Ball> bound_;
};

}  // namespace

std::optional<BallValue> ball_at(const Expr& e, const Point& point, std::int64_t precision,
                                 Budget& budget) {
  BallValue out;
  BallEvaluator evaluator(point, precision, budget);
  if (!evaluator.eval(e, out.ball)) return std::nullopt;
  out.unevaluated = evaluator.unevaluated();
  out.estimated = evaluator.estimated();
  out.beyond_cut = evaluator.beyond_cut();
  return out;
}

}  // namespace lie::scalar
