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
  bool integrated() const { return integrated_; }

 private:
  bool sane(const Ball& value);
  void set(Ball& out, const Rational& value) { acb_set_fmpq(out.get(), value.get(), precision_); }
  bool eval_op(const Expr& e, Ball& out);
  void symbol(const Expr& e, Ball& out);
  bool constant(const Expr& e, Ball& out);
  using Binary = void (*)(acb_t, const acb_t, const acb_t, slong);
  bool fold(const Expr& e, slong start, Binary apply, Ball& out);
  template <typename Change>
  bool scaled(const Expr& e, Ball& out, Change change) {
    if (!eval(*e.args[0], out)) return false;
    change(out);
    return true;
  }
  void degrees(Ball& x);
  bool exactly(const Expr& e, Ball& out);
  bool ratio(const Expr& e, Ball& out);
  bool power(const Expr& e, Ball& out);
  bool odd_root(const Rational& exponent, const Ball& value, Ball& out);

  // --- functions ---
  using Unary = void (*)(acb_t, const acb_t, slong);
  static Unary direct(Fn fn);
  static Unary of_reciprocal(Fn fn);
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
  bool term_by_term(const Expr& e, const Rational& lower, const Rational& upper, bool adds,
                    Ball& out);

  // --- infinite sums: ball_series.cpp ---
  bool converges(const Expr& e, const Rational& lower);
  // Estimates a series. Returns false where it does not converge soon.
  bool series(const Expr& e, const Rational& lower, Ball& out);

  // --- integrals: ball_integral.cpp ---
  // Encloses a definite integral between finite bounds. Returns false where the quadrature does not
  // converge soon.
  bool integral(const Expr& e, Ball& out);
  static int evaluate_integrand(acb_ptr out, const acb_t x, void* task, slong order,
                                slong precision);
  // Returns whether a ball avoids the non-positive reals, where logarithms and powers have their
  // cut.
  static bool off_cut(const Ball& x);
  // Returns whether a function of one argument is certainly holomorphic on a ball.
  static bool holomorphic(Fn fn, const Ball& x);
  bool opaque(const std::string& name, const Expr& e, Ball& out);
  bool combine(const std::string& name, const std::vector<Ball>& args, Ball& out);

  const Point& point_;
  std::int64_t precision_;
  bool unevaluated_ = false;
  Budget& budget_;
  bool integrated_ = false;
  bool integrand_ = false;    // evaluates for a quadrature
  int level_ = 0;             // number of integrals around this evaluation
  bool holomorphic_ = false;  // fail where a function is not holomorphic on its whole argument
  std::map<std::string, Ball> bound_;
};

}  // namespace lie::scalar
