#include "verifier/calculus/closed_forms.h"

#include <flint/arith.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "verifier/calculus/continuity.h"
#include "verifier/calculus/derivative.h"
#include "verifier/calculus/quotient.h"
#include "verifier/scalar/rational_value.h"

namespace lie::calculus {
namespace {

using exact::Rational, expr::Fn, expr::Op;

constexpr std::int64_t kFurthestPole = 64;
constexpr std::int64_t kLargestStart = 1000;

class Sum {
 public:
  Sum(const Expr& e, Arena& arena, const VerifierOptions& options)
      : x_(e.name),
        body_(*e.args[0]),
        lower_(*e.args[1]),
        upper_(*e.args[2]),
        arena_(arena),
        options_(options) {}

  const Expr* value() {
    if (infinity_sign(lower_) != 0) return nullptr;
    const bool series = infinity_sign(upper_) > 0;
    if (!series) return finite();
    for (const auto rule : {&Sum::exponential, &Sum::even_powers, &Sum::telescoping})
      if (const Expr* out = (this->*rule)()) return out;
    const Expr* ratio = common_ratio(body_);
    if (ratio == nullptr) return nullptr;
    // A ratio with names is taken to be one for which the series converges.
    const Expr* room =
        arena_.add({arena_.number(1), arena_.negate(arena_.call(Fn::kAbs, {ratio}))});
    if (!has_names(*ratio) && sign_of(room, arena_, options_) != 1) return nullptr;
    return geometric(&body_, ratio, kMostSteps);
  }

 private:
  static constexpr int kMostSteps = 6;

  const Expr* one() { return arena_.number(1); }
  const Expr* shifted(const Expr* e, const Expr* value) {
    return value == nullptr ? nullptr : value_at(*e, {x_, value}, arena_);
  }
  const Expr* next() { return arena_.add({arena_.symbol(x_), one()}); }

  // --- finite ranges ---------------------------------------------------------------------------

  // Bounds that are numbers are whole, and in order.
  bool is_range() {
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

  const Expr* finite() {
    if (!is_range()) return nullptr;
    if (const std::optional<Polynomial> p = polynomial_in(body_, x_, arena_)) return power_sums(*p);
    const Expr* ratio = common_ratio(body_);
    if (ratio == nullptr || polynomial_factor()) return nullptr;
    // body(lower) (1 - ratio^count) / (1 - ratio)
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

  // 1^k + ... + n^k as a polynomial in n: n^(k+1-j) has coefficient C(k+1, j) B_j / (k+1), B_1 =
  // +1/2.
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

  // --- geometric -------------------------------------------------------------------------------

  // The product of all c^slope over the factors c^(slope k + offset); nullptr where the other
  // factors are no polynomial in k, or there is no such factor.
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

  // Whether there is a polynomial in k besides the powers.
  bool polynomial_factor() const {
    return body_.op == Op::kMul && std::ranges::any_of(body_.args, [this](const Expr* arg) {
             return depends(*arg, x_) && polynomial_in(*arg, x_, arena_);
           });
  }

  // S (1 - q) = f(lower) + sum of f(k+1) - q f(k), which has one power of k less.
  const Expr* geometric(const Expr* f, const Expr* q, int steps) {
    const Expr* first = shifted(f, &lower_);
    const Expr* ahead = shifted(f, next());
    if (first == nullptr || ahead == nullptr || steps == 0) return nullptr;
    const Expr* change = arena_.add({ahead, arena_.negate(arena_.mul({q, f}))});
    const Tri done = is_zero(change, arena_, options_);
    if (done == Tri::kUnknown) return nullptr;
    if (done == Tri::kNo) {
      const Expr* rest = geometric(change, q, steps - 1);
      first = rest == nullptr ? nullptr : arena_.add({first, rest});
    }
    return arena_.divide(first, arena_.add({one(), arena_.negate(q)}));
  }

  // --- other series ----------------------------------------------------------------------------

  // c^k / k! from 0: (k+1) f(k+1) = c f(k).
  const Expr* exponential() {
    if (!body_.has(expr::trait::kFactorial) || is_zero(&lower_, arena_, options_) != Tri::kYes) return nullptr;
    const Expr* zero = shifted(&body_, arena_.number(0));
    const Expr* c = arena_.divide(shifted(&body_, one()), zero);
    const Expr* ahead = shifted(&body_, next());
    if (c == nullptr || ahead == nullptr || is_zero(zero, arena_, options_) != Tri::kNo)
      return nullptr;
    const Expr* gap =
        arena_.add({arena_.mul({next(), ahead}), arena_.negate(arena_.mul({c, &body_}))});
    if (is_zero(gap, arena_, options_) != Tri::kYes) return nullptr;
    return arena_.mul({zero, arena_.power(arena_.constant("e"), c)});
  }

  std::optional<std::int64_t> start() const {
    if (lower_.op != Op::kNumber) return std::nullopt;
    const std::optional<std::int64_t> n = lower_.value.small_integer();
    return n && std::abs(*n) <= kLargestStart ? n : std::nullopt;
  }

  std::optional<Quotient> trimmed() {
    std::optional<Quotient> q = quotient_in(body_, x_, arena_);
    if (!q || !trim(q->top, arena_, options_) || trim(q->bottom, arena_, options_).value_or(-1) < 2)
      return std::nullopt;
    return q;
  }

  // c / k^s, s even: zeta(s) = |B_s| (2 pi)^s / (2 s!).
  const Expr* even_powers() {
    const std::optional<std::int64_t> from = start();
    const std::optional<Quotient> q = from && *from >= 1 ? trimmed() : std::nullopt;
    if (!q || q->top.size() != 1) return nullptr;
    const std::size_t s = q->bottom.size() - 1;
    if (s % 2 != 0 ||
        std::count(q->bottom.begin(), q->bottom.end(), nullptr) != static_cast<std::ptrdiff_t>(s))
      return nullptr;
    Rational zeta;
    arith_bernoulli_number(zeta.get(), s);
    if (zeta.sign() < 0) zeta = -zeta;
    const auto n = static_cast<std::int64_t>(s);
    zeta = zeta * exact::power(Rational(2), n - 1);
    for (std::int64_t k = 2; k <= n; ++k) zeta = zeta / Rational(k);
    Rational missing;
    for (std::int64_t k = 1; k < *from; ++k) missing = missing + exact::power(Rational(k), -n);
    const Expr* whole =
        arena_.mul({arena_.number(zeta), arena_.power(arena_.constant("pi"), arena_.number(n))});
    return arena_.mul(
        {arena_.divide(q->top[0], q->bottom.back()), arena_.add({whole, arena_.number(-missing)})});
  }

  // --- partial fractions -----------------------------------------------------------------------

  using Coefficients = std::vector<Rational>;

  static std::optional<Coefficients> rationals(const Polynomial& p) {
    Coefficients out;
    for (const Expr* c : p) {
      if (c != nullptr && c->op != Op::kNumber) return std::nullopt;
      out.push_back(c == nullptr ? Rational(0) : c->value);
    }
    return out;
  }

  static Rational at(const Coefficients& p, const Rational& x) {
    Rational out;
    for (auto c = p.rbegin(); c != p.rend(); ++c) out = out * x + *c;
    return out;
  }

  static Rational slope_at(const Coefficients& p, const Rational& x) {
    Coefficients derived;
    for (std::size_t k = 1; k < p.size(); ++k)
      derived.push_back(Rational(static_cast<std::int64_t>(k)) * p[k]);
    return at(derived, x);
  }

  // All roots, where they are simple, rational with one denominator up to 4, and below the range.
  std::vector<Rational> simple_roots(const Coefficients& p, const Rational& below) {
    for (std::int64_t denominator = 1; denominator <= 4; ++denominator) {
      for (std::int64_t residue = 0; residue < denominator; ++residue) {
        std::vector<Rational> roots;
        if (!arena_.budget().spend(2 * kFurthestPole)) return {};
        for (std::int64_t n = -kFurthestPole; n <= kFurthestPole; ++n) {
          const Rational x(n * denominator + residue, denominator);
          if (x < below && at(p, x).is_zero()) roots.push_back(x);
        }
        if (roots.size() + 1 == p.size()) return roots;
      }
    }
    return {};
  }

  // Sum of A_i / (k - r_i) with whole differences of the r_i and vanishing sum of the A_i: all but
  // finitely many terms cancel.
  const Expr* telescoping() {
    const std::optional<std::int64_t> from = start();
    const std::optional<Quotient> q = from ? trimmed() : std::nullopt;
    if (!q || q->top.size() + 1 >= q->bottom.size()) return nullptr;
    const std::optional<Coefficients> top = rationals(q->top);
    const std::optional<Coefficients> bottom = rationals(q->bottom);
    if (!top || !bottom) return nullptr;
    const std::vector<Rational> roots = simple_roots(*bottom, Rational(*from));
    if (roots.empty()) return nullptr;
    const Rational highest = *std::max_element(roots.begin(), roots.end());
    Rational out;
    for (const Rational& root : roots) {
      Rational harmonic;
      for (Rational k = Rational(*from) - highest; k < Rational(*from) - root; k = k + Rational(1))
        harmonic = harmonic + Rational(1) / k;
      out = out - at(*top, root) / slope_at(*bottom, root) * harmonic;
    }
    return arena_.number(out);
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
