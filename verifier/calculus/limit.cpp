#include "verifier/calculus/closed_forms.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "verifier/calculus/continuity.h"
#include "verifier/calculus/derivative.h"
#include "verifier/expr/substitute.h"

namespace lie::calculus {
namespace {

using exact::Rational, expr::Fn, expr::Op;

constexpr int kMostDerivatives = 5;

bool is_infinite(const Expr* e) { return e != nullptr && infinity_sign(*e) != 0; }
bool is_finite(const Expr* e) { return e != nullptr && !is_infinite(e); }

// A base and its exponent.
struct Power {
  const Expr* base = nullptr;
  const Expr* exponent = nullptr;
};

// Reads powers, roots and the exponential function as powers.
std::optional<Power> as_power(const Expr& e, Arena& arena) {
  if (e.op == Op::kPow) return Power{e.args[0], e.args[1]};
  if (e.op == Op::kFunction && e.fn == Fn::kExp) return Power{arena.constant("e"), e.args[0]};
  if (e.op == Op::kFunction && e.fn == Fn::kRoot && e.args[1]->op == Op::kNumber &&
      !e.args[1]->value.is_zero())
    return Power{e.args[0], arena.number(Rational(1) / e.args[1]->value)};
  return std::nullopt;
}

// Returns lim u^v = e^(lim v (u - 1)), where u goes to 1 and that limit is finite.
template <typename Limit>
const Expr* near_one(const Power& power, Arena& arena, const VerifierOptions& options,
                     Limit limit) {
  const Expr* gap = arena.add({power.base, arena.number(-1)});
  const Expr* to_zero = gap == nullptr ? nullptr : limit(*gap);
  if (is_zero(to_zero, arena, options) != Tri::kYes) return nullptr;
  const Expr* product = arena.mul({power.exponent, gap});
  const Expr* exponent = product == nullptr ? nullptr : limit(*product);
  return is_finite(exponent) ? arena.power(arena.constant("e"), exponent) : nullptr;
}

class AtPoint {
 public:
  AtPoint(const Place& place, Arena& arena, const VerifierOptions& options)
      : place_(place), arena_(arena), options_(options) {}

  const Expr* of(const Expr& e) {
    if (!arena_.budget().spend(4)) return nullptr;
    if (is_analytic_at(e, place_, arena_, options_)) return value_at(e, place_, arena_);
    const Fraction whole = fraction(e);
    if (const Expr* value = quotient(whole.top, whole.bottom)) return value;
    const std::optional<Power> power = as_power(e, arena_);
    if (!power || !depends(*power->exponent, place_.x)) return nullptr;
    return near_one(*power, arena_, options_, [this](const Expr& part) { return of(part); });
  }

 private:
  struct Fraction {
    const Expr* top = nullptr;
    const Expr* bottom = nullptr;
  };

  // Returns e as one fraction. Its parts are nullptr where the budget is spent.
  Fraction fraction(const Expr& e) {
    const Expr* one = arena_.number(1);
    if (!arena_.budget().spend()) return {};
    if (e.op == Op::kPow && e.args[1]->op == Op::kNumber && e.args[1]->value.is_integer() &&
        e.args[1]->value.sign() < 0) {
      const Fraction base = fraction(*e.args[0]);
      const Rational n = -e.args[1]->value;
      return {raised(base.bottom, n), raised(base.top, n)};
    }
    if (e.op != Op::kAdd && e.op != Op::kMul) return {&e, one};
    Fraction out{e.op == Op::kMul ? one : arena_.number(0), one};
    for (const Expr* arg : e.args) {
      const Fraction next = fraction(*arg);
      out.top = e.op == Op::kMul ? arena_.mul({out.top, next.top})
                                 : arena_.add({arena_.mul({out.top, next.bottom}),
                                               arena_.mul({next.top, out.bottom})});
      out.bottom = arena_.mul({out.bottom, next.bottom});
    }
    return out;
  }

  const Expr* raised(const Expr* base, const Rational& n) {
    return n == Rational(1) ? base : arena_.power(base, arena_.number(n));
  }

  // Applies L'Hospital's rule while top and bottom are analytic and go to 0.
  const Expr* quotient(const Expr* top, const Expr* bottom) {
    for (int i = 0; i <= kMostDerivatives && top != nullptr && bottom != nullptr; ++i) {
      if (!is_analytic_at(*top, place_, arena_, options_) ||
          !is_analytic_at(*bottom, place_, arena_, options_))
        return nullptr;
      const Expr* above = value_at(*top, place_, arena_);
      const Expr* below = value_at(*bottom, place_, arena_);
      const Tri vanishes = is_zero(below, arena_, options_);
      if (vanishes == Tri::kNo) return arena_.divide(above, below);
      if (vanishes == Tri::kUnknown || is_zero(above, arena_, options_) != Tri::kYes)
        return nullptr;
      top = derivative(*top, place_.x, arena_);
      bottom = derivative(*bottom, place_.x, arena_);
    }
    return nullptr;
  }

  const Place& place_;
  Arena& arena_;
  const VerifierOptions& options_;
};

}  // namespace

const Expr* limit(const Expr& e, std::string_view x, const Expr& point, Arena& arena,
                  const VerifierOptions& options) {
  if (point.has(expr::trait::kInfinity)) return nullptr;
  return AtPoint({x, &point}, arena, options).of(e);
}

}  // namespace lie::calculus
