#include "verifier/scalar/rational_value.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace lie::scalar {
namespace {

using exact::Rational, expr::Expr, expr::Fn, expr::Op;
using Value = std::optional<Rational>;

constexpr std::int64_t kMostBits = 40'000;        // of an intermediate value
constexpr std::int64_t kLargestFactorial = 3000;  // has fewer bits than that

class Evaluator {
 public:
  Evaluator(const ValueOfName& names, Budget& budget) : names_(names), budget_(budget) {}

  Value eval(const Expr& e) {
    if (!budget_.spend()) return std::nullopt;
    Value out = eval_op(e);
    if (out && !budget_.spend(out->bits() / 256)) return std::nullopt;
    return out;
  }

 private:
  Value eval_op(const Expr& e) {
    switch (e.op) {
      case Op::kNumber: return e.value;
      case Op::kSymbol: return names_ ? names_(e.name) : std::nullopt;
      case Op::kAdd: return fold(e, Rational(0), std::plus<>());
      case Op::kMul: return fold(e, Rational(1), std::multiplies<>());
      case Op::kPow: return power(e);
      case Op::kPercent: return fold(e, Rational(1, 100), std::multiplies<>());
      case Op::kUnit:
      case Op::kBased: return eval(*e.args[0]);
      case Op::kRatio: return ratio(e);
      case Op::kFunction: return function(e);
      default: return std::nullopt;
    }
  }

  template <typename Combine>
  Value fold(const Expr& e, Rational out, Combine combine) {
    for (const Expr* arg : e.args) {
      const Value value = eval(*arg);
      if (!value || out.bits() + value->bits() > kMostBits) return std::nullopt;
      out = combine(out, *value);
    }
    return out;
  }

  Value power(const Expr& e) {
    const Value base = eval(*e.args[0]);
    if (!base) return std::nullopt;
    const Value exponent = eval(*e.args[1]);
    if (!exponent) return std::nullopt;
    if (!exponent->is_integer()) return std::nullopt;
    if (base->is_zero()) return exponent->sign() > 0 ? Value(Rational(0)) : std::nullopt;
    if (*base == Rational(1)) return base;
    const std::optional<std::int64_t> n = exponent->small_integer();
    if (!n || std::abs(*n) > kMostBits || base->bits() * std::abs(*n) > 2 * kMostBits)
      return std::nullopt;
    return exact::power(*base, *n);
  }

  Value ratio(const Expr& e) {
    const auto args = all(e);
    if (!args || args->size() != 2 || (*args)[1].is_zero()) return std::nullopt;
    return (*args)[0] / (*args)[1];
  }

  std::optional<std::vector<Rational>> all(const Expr& e) {
    std::vector<Rational> out;
    for (const Expr* arg : e.args) {
      Value value = eval(*arg);
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
    }
    return out;
  }

  Value function(const Expr& e) {
    if (!is_one_of(e.fn, Fn::kAbs, Fn::kFloor, Fn::kCeil, Fn::kFactorial, Fn::kBinomial, Fn::kGcd,
                   Fn::kLcm, Fn::kMax, Fn::kMin, Fn::kMod))
      return std::nullopt;
    const auto args = all(e);
    return args ? apply(e.fn, *args) : std::nullopt;
  }

  Value apply(Fn fn, const std::vector<Rational>& a) {
    switch (fn) {
      case Fn::kAbs: return a[0].sign() < 0 ? -a[0] : a[0];
      case Fn::kFloor: return floor_of(a[0]);
      case Fn::kCeil: return -floor_of(-a[0]);
      case Fn::kMod: return a[1].is_zero() ? Value() : Value(a[0] - a[1] * floor_of(a[0] / a[1]));
      case Fn::kFactorial: return factorial(a[0]);
      case Fn::kBinomial: return binomial(a[0], a[1]);
      case Fn::kGcd:
      case Fn::kLcm: return gcd_lcm(a, fn == Fn::kGcd);
      case Fn::kMax: return *std::max_element(a.begin(), a.end());
      case Fn::kMin: return *std::min_element(a.begin(), a.end());
      default: return std::nullopt;
    }
  }

  static Rational floor_of(const Rational& a) {
    Rational out;
    fmpz_fdiv_q(fmpq_numref(out.get()), a.numerator(), a.denominator());
    return out;
  }

  Value factorial(const Rational& a) {
    const std::optional<std::int64_t> n = a.small_integer();
    if (!n || *n < 0 || *n > kLargestFactorial || !budget_.spend(*n / 8)) return std::nullopt;
    Rational out;
    fmpz_fac_ui(fmpq_numref(out.get()), static_cast<ulong>(*n));
    return out;
  }

  Value binomial(const Rational& a, const Rational& b) {
    const std::optional<std::int64_t> n = a.small_integer();
    const std::optional<std::int64_t> k = b.small_integer();
    if (!n || !k || *n < 0 || *k < 0 || *n > kMostBits || !budget_.spend(std::min(*k, *n) / 8))
      return std::nullopt;
    Rational out;
    fmpz_bin_uiui(fmpq_numref(out.get()), static_cast<ulong>(*n), static_cast<ulong>(*k));
    return out;
  }

  static Value gcd_lcm(const std::vector<Rational>& a, bool gcd) {
    Rational out = a.front();
    for (const Rational& next : a) {
      const bool zero = out.is_zero() && next.is_zero();
      Rational common;
      fmpq_gcd(common.get(), out.get(), next.get());
      out = gcd ? common : zero ? Rational(0) : out / common * next;
    }
    return out.sign() < 0 ? -out : out;
  }

  const ValueOfName& names_;
  Budget& budget_;
};

}  // namespace

std::optional<Rational> rational_value(const Expr& e, Budget& budget) {
  return rational_value(e, nullptr, budget);
}

std::optional<Rational> rational_value(const Expr& e, const ValueOfName& names, Budget& budget) {
  return Evaluator(names, budget).eval(e);
}

const Expr* folded(const Expr* e, expr::Arena& arena) {
  constexpr std::uint32_t kOther = expr::trait::kName | expr::trait::kDecimal;
  if (e == nullptr || e->op == Op::kNumber || e->has(kOther)) return e;
  std::optional<Rational> value = rational_value(*e, arena.budget());
  return value ? arena.number(std::move(*value)) : e;
}

}  // namespace lie::scalar
