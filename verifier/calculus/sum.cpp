#include "verifier/calculus/sum.h"

#include <flint/arith.h>

#include <optional>
#include <vector>

#include "verifier/calculus/polynomial.h"
#include "verifier/scalar/rational_value.h"

namespace lie::calculus {
namespace {

using exact::Rational;

class Sum {
 public:
  Sum(const Expr& e, Arena& arena)
      : x_(e.name), body_(*e.args[0]), lower_(*e.args[1]), upper_(*e.args[2]), arena_(arena) {}

  const Expr* value() { return is_range() ? closed_form() : nullptr; }

 private:
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
    const std::optional<Polynomial> p = polynomial_in(body_, x_, arena_);
    return p ? power_sums(*p) : nullptr;
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

  std::string x_;
  const Expr& body_;
  const Expr& lower_;
  const Expr& upper_;
  Arena& arena_;
};

}  // namespace

const Expr* sum_value(const Expr& sum, Arena& arena) {
  if (sum.args.size() != 3 || sum.name.empty()) return nullptr;
  return Sum(sum, arena).value();
}

}  // namespace lie::calculus
