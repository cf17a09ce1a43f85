#include "verifier/calculus/closed_forms.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "verifier/calculus/continuity.h"
#include "verifier/calculus/derivative.h"
#include "verifier/calculus/quotient.h"

namespace lie::calculus {
namespace {

using exact::Rational, expr::Fn, expr::Op;

class Integrator {
 public:
  Integrator(std::string_view x, Arena& arena, const VerifierOptions& options)
      : x_(x), arena_(arena), options_(options) {}

  // A line that keeps its sign between the bounds, or the antiderivative does not hold. It may be 0
  // at a bound where `touches`; then it must not be negative.
  struct Barred {
    const Expr* line = nullptr;
    bool touches = false;
  };
  const std::vector<Barred>& barred() const { return barred_; }

  const Expr* of(const Expr& e) {
    if (!arena_.budget().spend(4)) return nullptr;
    if (const std::optional<Polynomial> p = polynomial_in(e, x_, arena_)) return polynomial(*p);
    if (e.op == Op::kAdd) return sum(e);
    if (e.op == Op::kMul) return product(e);
    return single(e);
  }

 private:
  const Expr* x() { return arena_.symbol(x_); }
  const Expr* over(const Expr* a, const Expr* b) { return arena_.divide(a, b); }

  const Expr* polynomial(const Polynomial& p) {
    Polynomial out = {nullptr};
    for (std::size_t k = 0; k < p.size(); ++k) {
      const Rational scale(1, static_cast<std::int64_t>(k) + 1);
      out.push_back(p[k] == nullptr ? nullptr : arena_.mul({arena_.number(scale), p[k]}));
    }
    return expression(out, x(), arena_);
  }

  const Expr* sum(const Expr& e) {
    std::vector<const Expr*> terms;
    for (const Expr* arg : e.args) terms.push_back(of(*arg));
    return arena_.add(std::move(terms));
  }

  // Factors without x aside, then a single factor, or a polynomial times one that can be integrated
  // again and again.
  const Expr* product(const Expr& e) {
    std::vector<const Expr*> constants, polynomials, others;
    for (const Expr* arg : e.args) {
      if (!depends(*arg, x_))
        constants.push_back(arg);
      else
        (polynomial_in(*arg, x_, arena_) ? polynomials : others).push_back(arg);
    }
    if (others.size() != 1) return nullptr;
    const Expr* out = nullptr;
    if (polynomials.empty()) {
      out = of(*others.front());
    } else {
      const Expr* factor = arena_.mul(std::move(polynomials));
      out = factor == nullptr ? nullptr : by_parts(factor, others.front());
    }
    constants.push_back(out);
    return arena_.mul(std::move(constants));
  }

  // P f = P F1 - P' F2 + P'' F3 - ..., F1 an antiderivative of f, F2 one of F1.
  const Expr* by_parts(const Expr* p, const Expr* f) {
    if (!is_wave_or_exponential(*f)) return nullptr;
    std::vector<const Expr*> terms;
    for (int sign = 1; p != nullptr; sign = -sign) {
      f = of(*f);
      if (f == nullptr) return nullptr;
      const std::optional<Polynomial> factor = polynomial_in(*p, x_, arena_);
      if (!factor) return nullptr;
      terms.push_back(arena_.mul({arena_.number(sign), p, f}));
      if (factor->size() < 2) return arena_.add(std::move(terms));
      p = expression(derived(*factor), x(), arena_);
    }
    return nullptr;
  }

  Polynomial derived(const Polynomial& p) {
    Polynomial out;
    for (std::size_t k = 1; k < p.size(); ++k)
      out.push_back(p[k] == nullptr
                        ? nullptr
                        : arena_.mul({arena_.number(static_cast<std::int64_t>(k)), p[k]}));
    return out;
  }

  bool is_wave_or_exponential(const Expr& e) {
    if (e.op == Op::kPow) return !depends(*e.args[0], x_) && line(*e.args[1]);
    return e.op == Op::kFunction && line(*e.args.front()) &&
           (e.fn == Fn::kSin || e.fn == Fn::kCos || e.fn == Fn::kExp);
  }

  std::optional<Line> line(const Expr& e) { return line_in(e, x_, arena_, options_); }

  const Expr* single(const Expr& e) {
    if (e.op == Op::kPow) return power(e);
    const std::optional<Line> u = e.op == Op::kFunction ? line(*e.args.front()) : std::nullopt;
    if (!u) return nullptr;
    const Expr* arg = e.args.front();
    switch (e.fn) {
      case Fn::kSin: return over(arena_.negate(arena_.call(Fn::kCos, {arg})), u->slope);
      case Fn::kCos: return over(arena_.call(Fn::kSin, {arg}), u->slope);
      case Fn::kSinh: return over(arena_.call(Fn::kCosh, {arg}), u->slope);
      case Fn::kCosh: return over(arena_.call(Fn::kSinh, {arg}), u->slope);
      case Fn::kExp: return over(&e, u->slope);
      case Fn::kLn:
        barred_.push_back({arg, false});
        return over(arena_.add({arena_.mul({arg, &e}), arena_.negate(arg)}), u->slope);
      case Fn::kRoot:
        return e.args[1]->op == Op::kNumber && !e.args[1]->value.is_zero()
                   ? line_power(arg, *u, arena_.number(Rational(1) / e.args[1]->value))
                   : nullptr;
      default: return nullptr;
    }
  }

  const Expr* power(const Expr& e) {
    const Expr* base = e.args[0];
    const Expr* exponent = e.args[1];
    if (!depends(*base, x_)) {
      const std::optional<Line> u = line(*exponent);
      if (!u || sign_of(base, arena_, options_) != 1) return nullptr;
      const bool natural = base->op == Op::kConstant && base->name == "e";
      return over(&e, natural ? u->slope : arena_.mul({u->slope, arena_.call(Fn::kLn, {base})}));
    }
    if (depends(*exponent, x_)) return nullptr;
    if (is_whole(*exponent) && base->op == Op::kPow && base->args[1]->op == Op::kNumber) {
      exponent = arena_.number(exponent->value * base->args[1]->value);
      base = base->args[0];
    }
    if (exponent == nullptr) return nullptr;
    if (const std::optional<Line> u = line(*base)) return line_power(base, *u, exponent);
    return exponent->op == Op::kNumber && exponent->value == Rational(-1) ? quadratic(*base)
                                                                          : nullptr;
  }

  static bool is_whole(const Expr& e) { return e.op == Op::kNumber && e.value.is_integer(); }

  const Expr* line_power(const Expr* base, const Line& u, const Expr* exponent) {
    const bool integrable = exponent->op == Op::kNumber && Rational(-1) < exponent->value;
    barred_.push_back({base, integrable});
    const Expr* raised = arena_.add({exponent, arena_.number(1)});
    const Tri logarithm = is_zero(raised, arena_, options_);
    if (logarithm == Tri::kUnknown) return nullptr;
    if (logarithm == Tri::kYes)
      return over(arena_.call(Fn::kLn, {arena_.call(Fn::kAbs, {base})}), u.slope);
    if (exponent->op == Op::kNumber) raised = arena_.number(exponent->value + Rational(1));
    return over(arena_.power(base, raised), arena_.mul({u.slope, raised}));
  }

  // 1 / (a x^2 + b x + c) without real zeros: 2/r arctan((2 a x + b)/r), r^2 = 4 a c - b^2 > 0.
  const Expr* quadratic(const Expr& e) {
    std::optional<Polynomial> p = polynomial_in(e, x_, arena_);
    if (!p || trim(*p, arena_, options_) != 2) return nullptr;
    const Expr* zero = arena_.number(0);
    const Expr* c = (*p)[0] == nullptr ? zero : (*p)[0];
    const Expr* b = (*p)[1] == nullptr ? zero : (*p)[1];
    const Expr* a = (*p)[2];
    const Expr* square =
        arena_.add({arena_.mul({arena_.number(4), a, c}), arena_.mul({arena_.number(-1), b, b})});
    if (sign_of(square, arena_, options_) != 1) return nullptr;
    const Expr* root = arena_.power(square, arena_.number(Rational(1, 2)));
    const Expr* inner = over(arena_.add({arena_.mul({arena_.number(2), a, x()}), b}), root);
    return over(arena_.mul({arena_.number(2), arena_.call(Fn::kArctan, {inner})}), root);
  }

  std::string_view x_;
  Arena& arena_;
  const VerifierOptions& options_;
  std::vector<Barred> barred_;
};

// An end of the range.
class End {
 public:
  End(std::string_view x, const Expr& bound, Arena& arena, const VerifierOptions& options)
      : x_(x), bound_(bound), arena_(arena), options_(options) {}

  // An expression that is continuous up to this end, there; nullptr where it has no finite value.
  const Expr* value(const Expr& e) const {
    if (infinity_sign(bound_) == 0) return value_at(e, {x_, &bound_}, arena_);
    const Expr* out = limit(e, x_, bound_, arena_, options_);
    return out != nullptr && infinity_sign(*out) == 0 ? out : nullptr;
  }

  // The sign of a line; 2 where it cannot be told.
  int sign(const Expr& line) const {
    const Expr* end = limit(line, x_, bound_, arena_, options_);
    if (end == nullptr) return 2;
    const int infinite = infinity_sign(*end);
    return infinite != 0 ? infinite : sign_of(end, arena_, options_);
  }

 private:
  std::string_view x_;
  const Expr& bound_;
  Arena& arena_;
  const VerifierOptions& options_;
};

bool holds(const Integrator::Barred& barred, const End& low, const End& high) {
  const int left = low.sign(*barred.line);
  const int right = high.sign(*barred.line);
  if (left == 2 || right == 2) return false;
  if (left == 0 || right == 0) return barred.touches && left >= 0 && right >= 0 && left != right;
  return left == right;
}

}  // namespace

const Expr* antiderivative(const Expr& e, std::string_view x, Arena& arena,
                           const VerifierOptions& options) {
  return Integrator(x, arena, options).of(e);
}

const Expr* integral_value(const Expr& integral, Arena& arena, const VerifierOptions& options) {
  if (integral.args.size() != 3 || integral.name.empty()) return nullptr;
  const Expr& lower = *integral.args[1];
  const Expr& upper = *integral.args[2];
  if (depends(lower, integral.name) || depends(upper, integral.name)) return nullptr;
  Integrator integrator(integral.name, arena, options);
  const Expr* whole = integrator.of(*integral.args[0]);
  if (whole == nullptr) return nullptr;
  const End low(integral.name, lower, arena, options);
  const End high(integral.name, upper, arena, options);
  for (const Integrator::Barred& barred : integrator.barred())
    if (!holds(barred, low, high)) return nullptr;
  const Expr* above = high.value(*whole);
  const Expr* below = above == nullptr ? nullptr : low.value(*whole);
  return below == nullptr ? nullptr : arena.add({above, arena.negate(below)});
}

}  // namespace lie::calculus
