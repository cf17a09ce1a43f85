#include "verifier/scalar/algebraic_value.h"

#include <memory>

#include "verifier/exact/algebraic.h"
#include "verifier/scalar/rational_value.h"

namespace lie::scalar {
namespace {

using exact::Rational, expr::Expr, expr::Fn, expr::Op;

struct Free {
  void operator()(lie_algebraic* x) const { lie_algebraic_free(x); }
};
using Number = std::unique_ptr<lie_algebraic, Free>;

Number rational(const Rational& value) {
  Number out(lie_algebraic_new());
  lie_algebraic_set_rational(out.get(), value.get());
  return out;
}

class Evaluator {
 public:
  explicit Evaluator(Budget& budget) : budget_(budget) {}

  // Null where the value is not algebraic, undefined or too large.
  Number eval(const Expr& e) {
    if (!budget_.spend(kStep)) return nullptr;
    switch (e.op) {
      case Op::kNumber: return e.value.bits() < kMostBits ? rational(e.value) : nullptr;
      case Op::kConstant: return imaginary(e);
      case Op::kAdd: return fold(e, 0, lie_algebraic_add);
      case Op::kMul: return fold(e, 1, lie_algebraic_multiply);
      case Op::kPow: return power(e);
      case Op::kFunction: return function(e);
      default: return exactly(e);
    }
  }

 private:
  // Of the budget: an operation costs microseconds to milliseconds.
  static constexpr std::int64_t kStep = 10;
  static constexpr std::int64_t kMostBits = 1000;

  Number exactly(const Expr& e) {
    const std::optional<Rational> value = rational_value(e, budget_);
    return value && value->bits() < kMostBits ? rational(*value) : nullptr;
  }

  static Number imaginary(const Expr& e) {
    if (e.name != "i") return nullptr;
    Number out(lie_algebraic_new());
    lie_algebraic_set_i(out.get());
    return out;
  }

  using Combine = int (*)(lie_algebraic*, const lie_algebraic*);
  Number fold(const Expr& e, std::int64_t start, Combine combine) {
    Number out = rational(Rational(start));
    for (const Expr* arg : e.args) {
      const Number next = eval(*arg);
      if (!next || !charge(*out, *next) || combine(out.get(), next.get()) == 0) return nullptr;
    }
    return out;
  }

  bool charge(const lie_algebraic& a, const lie_algebraic& b) {
    const std::int64_t degree = lie_algebraic_degree(&a) * lie_algebraic_degree(&b);
    return budget_.spend(degree * degree * kStep);
  }

  Number power(const Expr& e) {
    const std::optional<Rational> exponent = rational_value(*e.args[1], budget_);
    if (!exponent || exponent->bits() > 16) return nullptr;
    Number out = eval(*e.args[0]);
    const auto root = static_cast<ulong>(fmpz_get_si(exponent->denominator()));
    if (!out || (root > 1 && lie_algebraic_root(out.get(), root) == 0)) return nullptr;
    return lie_algebraic_power(out.get(), fmpz_get_si(exponent->numerator())) != 0 ? std::move(out)
                                                                                   : nullptr;
  }

  // Square roots written with a degree; odd roots of negative numbers are real, not principal, and
  // stay out.
  Number function(const Expr& e) {
    if (e.fn != Fn::kRoot) return exactly(e);
    const std::optional<Rational> degree = rational_value(*e.args[1], budget_);
    const std::optional<Rational> base = rational_value(*e.args[0], budget_);
    if (!degree || !base || base->sign() < 0 || !degree->is_integer() || degree->bits() > 8)
      return nullptr;
    Number out = eval(*e.args[0]);
    const auto n = static_cast<ulong>(fmpz_get_si(degree->numerator()));
    return out && lie_algebraic_root(out.get(), n) != 0 ? std::move(out) : nullptr;
  }

  Budget& budget_;
};

}  // namespace

std::optional<bool> equal_algebraic(const Expr& a, const Expr& b, Budget& budget) {
  Evaluator evaluator(budget);
  const Number x = evaluator.eval(a);
  const Number y = x ? evaluator.eval(b) : nullptr;
  if (!y) return std::nullopt;
  return lie_algebraic_equal(x.get(), y.get()) != 0;
}

}  // namespace lie::scalar
