#include "verifier/calculus/closed_forms.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "verifier/calculus/continuity.h"
#include "verifier/calculus/derivative.h"
#include "verifier/calculus/quotient.h"
#include "verifier/expr/substitute.h"

namespace lie::calculus {
namespace {

using exact::Rational, expr::Fn, expr::Op;

constexpr int kMostDerivatives = 5;

bool is_infinite(const Expr* e) { return e != nullptr && infinity_sign(*e) != 0; }
bool is_finite(const Expr* e) { return e != nullptr && !is_infinite(e); }

// x to a power c^(1/n) as an exponent: a power, a root, or nothing.
struct Power {
  const Expr* base = nullptr;
  const Expr* exponent = nullptr;
};

std::optional<Power> as_power(const Expr& e, Arena& arena) {
  if (e.op == Op::kPow) return Power{e.args[0], e.args[1]};
  if (e.op == Op::kFunction && e.fn == Fn::kExp) return Power{arena.constant("e"), e.args[0]};
  if (e.op == Op::kFunction && e.fn == Fn::kRoot && e.args[1]->op == Op::kNumber &&
      !e.args[1]->value.is_zero())
    return Power{e.args[0], arena.number(Rational(1) / e.args[1]->value)};
  return std::nullopt;
}

// lim u^v = e^(lim v (u - 1)) where u goes to 1 and that limit is finite, by any rule for limits.
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

// --- at a finite point -----------------------------------------------------------------------

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

  // One fraction line for the whole; parts are nullptr where the budget is spent.
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

  // L'Hospital: both go to 0 and are analytic, so the quotient of their derivatives tells.
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

// --- at plus infinity ------------------------------------------------------------------------

class AtInfinity {
 public:
  AtInfinity(std::string_view x, Arena& arena, const VerifierOptions& options)
      : x_(x), arena_(arena), options_(options) {}

  const Expr* of(const Expr& e) {
    if (!arena_.budget().spend(4)) return nullptr;
    if (!depends(e, x_)) return is_scalar(e) ? &e : nullptr;
    if (std::optional<Quotient> q = quotient_in(e, x_, arena_)) return by_degree(*q);
    if (e.op == Op::kAdd) return sum(e);
    if (e.op == Op::kMul) return product(e);
    if (const std::optional<Power> power = as_power(e, arena_)) return of_power(*power);
    return e.op == Op::kFunction ? function(e) : nullptr;
  }

 private:
  const Expr* infinity(int sign) {
    const Expr* out = arena_.constant("infinity");
    return sign < 0 ? arena_.negate(out) : out;
  }

  const Expr* by_degree(Quotient& q) {
    const std::optional<int> above = trim(q.top, arena_, options_);
    const std::optional<int> below = above ? trim(q.bottom, arena_, options_) : std::nullopt;
    if (!below || *below < 0) return nullptr;
    if (*above < *below) return arena_.number(0);
    const Expr* lead = arena_.divide(q.top.back(), q.bottom.back());
    if (*above == *below) return lead;
    const int sign = sign_of(lead, arena_, options_);
    return sign == 1 || sign == -1 ? infinity(sign) : nullptr;
  }

  const Expr* sum(const Expr& e) {
    std::vector<const Expr*> finite;
    const Expr* infinite = nullptr;
    for (const Expr* arg : e.args) {
      const Expr* part = of(*arg);
      if (part == nullptr) return nullptr;
      if (!is_infinite(part))
        finite.push_back(part);
      else if (infinite != nullptr && infinity_sign(*infinite) != infinity_sign(*part))
        return nullptr;
      else
        infinite = part;
    }
    return infinite != nullptr ? infinite : arena_.add(std::move(finite));
  }

  static bool is_wave(const Expr& e) {
    return e.op == Op::kFunction && (e.fn == Fn::kSin || e.fn == Fn::kCos);
  }

  // What grows or shrinks no faster than a power of x.
  bool is_tame(const Expr& e) {
    if (is_wave(e) || quotient_in(e, x_, arena_)) return true;
    const std::optional<Power> power = as_power(e, arena_);
    return power && power->exponent->op == Op::kNumber && quotient_in(*power->base, x_, arena_);
  }

  // c^u with u linear that goes to 0.
  bool decays(const Expr& e) {
    const std::optional<Power> power = as_power(e, arena_);
    if (!power || depends(*power->base, x_) || !line_in(*power->exponent, x_, arena_, options_))
      return false;
    const Expr* end = of_power(*power);
    return is_finite(end) && is_zero(end, arena_, options_) == Tri::kYes;
  }

  const Expr* product(const Expr& e) {
    const bool real = !std::ranges::any_of(
        e.args, [](const Expr* arg) { return arg->op == Op::kConstant && arg->name == "i"; });
    const auto decaying =
        std::ranges::count_if(e.args, [this](const Expr* arg) { return decays(*arg); });
    const bool tame = std::ranges::all_of(
        e.args, [this](const Expr* arg) { return decays(*arg) || is_tame(*arg); });
    if (real && decaying > 0 && tame) return arena_.number(0);
    std::vector<const Expr*> rational, others;
    bool waves = false;
    for (const Expr* arg : e.args) {
      if (is_wave(*arg) && depends(*arg, x_))
        waves = true;
      else
        (quotient_in(*arg, x_, arena_) ? rational : others).push_back(arg);
    }
    const Expr* quotients = rational.empty() ? arena_.number(1) : arena_.mul(std::move(rational));
    const Expr* out = quotients == nullptr ? nullptr : of(*quotients);
    for (const Expr* other : others) {
      const Expr* part = out == nullptr ? nullptr : of(*other);
      if (!is_finite(out) || !is_finite(part)) return nullptr;
      out = arena_.mul({out, part});
    }
    if (!waves) return out;
    return is_zero(out, arena_, options_) == Tri::kYes && real ? arena_.number(0) : nullptr;
  }

  const Expr* of_power(const Power& power) {
    if (power.base == nullptr || power.exponent == nullptr) return nullptr;
    if (!depends(*power.base, x_)) return exponential(*power.base, of(*power.exponent));
    if (depends(*power.exponent, x_))
      return near_one(power, arena_, options_, [this](const Expr& part) { return of(part); });
    const Expr* base = of(*power.base);
    const int sign = sign_of(power.exponent, arena_, options_);
    if (base == nullptr || (sign != 1 && sign != -1)) return nullptr;
    if (!is_infinite(base))
      return sign_of(base, arena_, options_) == 1 ? arena_.power(base, power.exponent) : nullptr;
    if (infinity_sign(*base) < 0) return nullptr;
    return sign > 0 ? base : arena_.number(0);
  }

  const Expr* exponential(const Expr& base, const Expr* exponent) {
    if (exponent == nullptr || sign_of(&base, arena_, options_) != 1) return nullptr;
    if (!is_infinite(exponent)) return arena_.power(&base, exponent);
    const int growth = sign_of(arena_.add({&base, arena_.number(-1)}), arena_, options_);
    if (growth != 1 && growth != -1) return nullptr;
    return growth * infinity_sign(*exponent) < 0 ? arena_.number(0) : infinity(1);
  }

  const Expr* function(const Expr& e) {
    const Expr* inner = of(*e.args.front());
    if (inner == nullptr || e.args.size() > 1) return nullptr;
    if (!is_infinite(inner)) {
      const Place place{"\x01", inner};
      const Expr* call = arena_.call(e.fn, {arena_.symbol(place.x)});
      return call != nullptr && is_analytic_at(*call, place, arena_, options_)
                 ? arena_.call(e.fn, {inner})
                 : nullptr;
    }
    const int sign = infinity_sign(*inner);
    if (e.fn == Fn::kArctan)
      return arena_.mul({arena_.number(Rational(sign, 2)), arena_.constant("pi")});
    if (e.fn == Fn::kTanh) return arena_.number(sign);
    return e.fn == Fn::kLn && sign > 0 ? inner : nullptr;
  }

  std::string_view x_;
  Arena& arena_;
  const VerifierOptions& options_;
};

}  // namespace

const Expr* limit(const Expr& e, std::string_view x, const Expr& point, Arena& arena,
                  const VerifierOptions& options) {
  const int sign = infinity_sign(point);
  if (sign == 0) return AtPoint({x, &point}, arena, options).of(e);
  if (sign > 0) return AtInfinity(x, arena, options).of(e);
  const Expr* mirrored = substitute(&e, x, arena.negate(arena.symbol(x)), arena);
  return mirrored == nullptr ? nullptr : AtInfinity(x, arena, options).of(*mirrored);
}

}  // namespace lie::calculus
