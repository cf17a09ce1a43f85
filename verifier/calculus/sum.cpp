#include "verifier/calculus/closed_forms.h"

#include <flint/arith.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "verifier/calculus/continuity.h"
#include "verifier/calculus/derivative.h"
#include "verifier/calculus/polynomial.h"
#include "verifier/scalar/rational_value.h"

namespace lie::calculus {
namespace {

using exact::Rational, expr::Fn, expr::Op;

class Sum {
 public:
  Sum(const Expr& e, Arena& arena, const VerifierOptions& options)
      : x_(e.name),
        body_(*e.args[0]),
        lower_(*e.args[1]),
        upper_(*e.args[2]),
        arena_(arena),
        options_(options) {}

  const Expr* value() { return is_range() ? closed_form() : nullptr; }

 private:
  const Expr* one() { return arena_.number(1); }
  const Expr* shifted(const Expr* e, const Expr* value) {
    return value == nullptr ? nullptr : value_at(*e, {x_, value}, arena_);
  }

  // Returns whether bounds that are numbers are whole and in order.
  bool is_range() {
    if (infinity_sign(lower_) != 0 || infinity_sign(upper_) != 0) return false;
    const auto value = [this](const Expr& bound) {
      return scalar::rational_value(bound, arena_.budget());
    };
    const std::optional<Rational> low = value(lower_);
    const std::optional<Rational> high = value(upper_);
    if (!low && !has_names(lower_)) return false;
    if (!high && !has_names(upper_)) return false;
    return (!low || low->is_integer()) && (!high || high->is_integer()) &&
           (!low || !high || !(*high < *low));
  }

  const Expr* closed_form() {
    if (const std::optional<Polynomial> p = polynomial_in(body_, x_, arena_)) return power_sums(*p);
    const Expr* ratio = common_ratio(body_);
    if (ratio == nullptr || polynomial_factor()) return nullptr;
    // The value is body(lower) (1 - ratio^count) / (1 - ratio).
    const Expr* rest = arena_.add({one(), arena_.negate(ratio)});
    if (is_zero(rest, arena_, options_) != Tri::kNo) return nullptr;
    const Expr* count = arena_.add({&upper_, arena_.negate(&lower_), one()});
    if (count == nullptr) return nullptr;
    const Expr* top = arena_.add({one(), arena_.negate(arena_.power(ratio, count))});
    return arena_.divide(arena_.mul({shifted(&body_, &lower_), top}), rest);
  }

  const Expr* power_sums(const Polynomial& p) {
    const Expr* below = arena_.add({&lower_, arena_.number(-1)});
    std::vector<const Expr*> terms;
    for (std::size_t k = 0; k < p.size(); ++k) {
      if (p[k] == nullptr) continue;
      const Polynomial formula = power_sum(static_cast<std::int64_t>(k));
      if (below == nullptr) return nullptr;
      const Expr* gap = arena_.add({expression(formula, &upper_, arena_),
                                    arena_.negate(expression(formula, below, arena_))});
      terms.push_back(arena_.mul({p[k], gap}));
    }
    return terms.empty() ? arena_.number(0) : arena_.add(std::move(terms));
  }

  // Returns 1^k + ... + n^k as a polynomial in n. The coefficient of n^(k+1-j) is C(k+1, j) B_j /
  // (k+1) with B_1 = +1/2.
  Polynomial power_sum(std::int64_t k) {
    Polynomial out(static_cast<std::size_t>(k) + 2);
    Rational choose(1);
    for (std::int64_t j = 0; j <= k; ++j) {
      Rational bernoulli;
      arith_bernoulli_number(bernoulli.get(), static_cast<ulong>(j));
      if (j == 1) bernoulli = Rational(1, 2);
      out[static_cast<std::size_t>(k + 1 - j)] =
          arena_.number(choose * bernoulli / Rational(k + 1));
      choose = choose * Rational(k + 1 - j, j + 1);
    }
    return out;
  }

  // Returns the product of all c^slope over the factors c^(slope k + offset). Returns nullptr where
  // the other factors are no polynomial in k, or where there is no such factor.
  const Expr* common_ratio(const Expr& e) {
    if (e.op == Op::kMul) {
      const Expr* out = nullptr;
      for (const Expr* arg : e.args) {
        if (polynomial_in(*arg, x_, arena_)) continue;
        const Expr* ratio = common_ratio(*arg);
        if (ratio == nullptr) return nullptr;
        out = out == nullptr ? ratio : arena_.mul({out, ratio});
      }
      return out;
    }
    const bool natural = e.op == Op::kFunction && e.fn == Fn::kExp;
    if (e.op != Op::kPow && !natural) return nullptr;
    const Expr* exponent = natural ? e.args[0] : e.args[1];
    if (natural || !depends(*e.args[0], x_)) {
      const std::optional<Line> line = line_in(*exponent, x_, arena_, options_);
      return line ? arena_.power(natural ? arena_.constant("e") : e.args[0], line->slope) : nullptr;
    }
    if (depends(*exponent, x_) || polynomial_in(e, x_, arena_)) return nullptr;
    const bool plain = e.args[0]->op == Op::kPow || e.args[0]->op == Op::kFunction;
    const Expr* inner = plain ? common_ratio(*e.args[0]) : nullptr;
    return inner == nullptr ? nullptr : arena_.power(inner, exponent);
  }

  // Returns whether there is a polynomial in k besides the powers.
  bool polynomial_factor() const {
    return body_.op == Op::kMul && std::ranges::any_of(body_.args, [this](const Expr* arg) {
             return depends(*arg, x_) && polynomial_in(*arg, x_, arena_);
           });
  }

  std::string x_;
  const Expr& body_;
  const Expr& lower_;
  const Expr& upper_;
  Arena& arena_;
  const VerifierOptions& options_;
};

}  // namespace

const Expr* sum_value(const Expr& sum, Arena& arena, const VerifierOptions& options) {
  if (sum.args.size() != 3 || sum.name.empty()) return nullptr;
  return Sum(sum, arena, options).value();
}

}  // namespace lie::calculus
