// The ball evaluator. Its members are grouped by the file that defines them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verifier/scalar/ball.h"
#include "verifier/scalar/rational_value.h"

namespace lie::scalar {

using exact::Rational, expr::Expr, expr::Fn, expr::Op;

class BallEvaluator {
 public:
  BallEvaluator(const Point& point, std::int64_t precision, Budget& budget)
      : point_(point), precision_(precision), budget_(budget) {}

  bool eval(const Expr& e, Ball& out);
  bool unevaluated() const { return unevaluated_; }
  bool estimated() const { return estimated_; }

 private:
  void set(Ball& out, const Rational& value) { acb_set_fmpq(out.get(), value.get(), precision_); }
  bool eval_op(const Expr& e, Ball& out);
  void symbol(const Expr& e, Ball& out);
  bool constant(const Expr& e, Ball& out);
  using Binary = void (*)(acb_t, const acb_t, const acb_t, slong);
  bool fold(const Expr& e, slong start, Binary apply, Ball& out);
  bool divide_into(const Expr& e, Ball& out);
  bool power(const Expr& e, Ball& out);
  bool odd_root(const Rational& exponent, const Ball& value, Ball& out);

  // --- functions ---
  using Unary = void (*)(acb_t, const acb_t, slong);
  static Unary direct(Fn fn);
  bool function(const Expr& e, Ball& out);
  bool single(const Expr& e, Ball& out);
  // Applies a function with jumps, whose result must be exact.
  template <typename Apply>
  static bool step(Ball& x, Apply apply) {
    apply(x);
    return acb_is_exact(x.get()) != 0;
  }
  bool factorial(Ball& x);
  bool several(const Expr& e, Ball& out);
  bool logarithm(std::vector<Ball>& args, Ball& out);
  bool root(std::vector<Ball>& args, const Expr& degree, Ball& out);
  bool binomial(std::vector<Ball>& args, Ball& out);
  bool modulo(std::vector<Ball>& args, Ball& out);
  bool extreme(std::vector<Ball>& args, int sign, Ball& out);
  bool common(const std::vector<Ball>& args, bool gcd, Ball& out);

  // --- binders and unknown functions ---
  bool binder(const Expr& e, Ball& out);
  // Evaluates a bound that is certainly a whole number.
  bool whole(const Expr& e, Rational& out);
  bool term_by_term(const Expr& e, const Rational& lower, const Rational& upper, bool adds,
                    Ball& out);

  // --- infinite sums: ball_series.cpp ---
  bool converges(const Expr& e, const Rational& lower);
  // Estimates a series. Returns false where it does not converge soon.
  bool series(const Expr& e, const Rational& lower, Ball& out);

  bool opaque(const std::string& name, const Expr& e, Ball& out);
  bool combine(const std::string& name, const std::vector<Ball>& args, Ball& out);

  const Point& point_;
  std::int64_t precision_;
  Budget& budget_;
  bool unevaluated_ = false, estimated_ = false;
  std::map<std::string, Ball> bound_;
};

}  // namespace lie::scalar
