#include "verifier/calculus/derivative.h"

#include <algorithm>
#include <vector>

namespace lie::calculus {
namespace {

using exact::Rational, expr::Fn, expr::Op;

constexpr std::int64_t kHighestOrder = 8;

class Differentiator {
 public:
  Differentiator(std::string_view x, Arena& arena) : x_(x), arena_(arena) {}

  const Expr* of(const Expr& e) {
    if (!arena_.budget().spend()) return nullptr;
    if (!depends(e, x_)) return is_scalar(e) ? number(0) : nullptr;
    switch (e.op) {
      case Op::kSymbol: return number(1);
      case Op::kAdd: return sum(e);
      case Op::kMul: return product(e);
      case Op::kPow: return power(e);
      case Op::kFunction: return function(e);
      default: return nullptr;
    }
  }

 private:
  const Expr* number(std::int64_t value) { return arena_.number(value); }
  const Expr* call(Fn fn, const Expr* a) { return arena_.call(fn, {a}); }
  const Expr* square(const Expr* a) { return arena_.power(a, number(2)); }
  const Expr* less(const Expr* a, const Expr* b) { return arena_.add({a, arena_.negate(b)}); }
  const Expr* inverse_root(const Expr* a) {
    return arena_.power(a, arena_.number(Rational(-1, 2)));
  }

  // Returns n u^(n-1) u'. The powers 0 and 1 are left out: they have no value at u = 0 or only
  // enlarge the tree.
  const Expr* constant_power(const Expr* u, const Expr* n) {
    if (n->op != Op::kNumber)
      return arena_.mul({n, arena_.power(u, arena_.add({n, number(-1)})), of(*u)});
    if (n->value.is_zero()) return number(0);
    if (n->value == Rational(1)) return of(*u);
    if (n->value == Rational(2)) return arena_.mul({n, u, of(*u)});
    return arena_.mul({n, arena_.power(u, arena_.number(n->value - Rational(1))), of(*u)});
  }

  const Expr* sum(const Expr& e) {
    std::vector<const Expr*> terms;
    for (const Expr* arg : e.args)
      if (depends(*arg, x_)) terms.push_back(of(*arg));
    return arena_.add(std::move(terms));
  }

  const Expr* product(const Expr& e) {
    std::vector<const Expr*> terms;
    for (std::size_t i = 0; i < e.args.size(); ++i) {
      if (!depends(*e.args[i], x_)) continue;
      std::vector<const Expr*> factors = e.args;
      factors[i] = of(*e.args[i]);
      terms.push_back(arena_.mul(std::move(factors)));
    }
    return arena_.add(std::move(terms));
  }

  const Expr* power(const Expr& e) {
    const Expr* base = e.args[0];
    const Expr* exponent = e.args[1];
    if (!depends(*exponent, x_)) return constant_power(base, exponent);
    const bool natural = base->op == Op::kConstant && base->name == "e";
    if (natural) return arena_.mul({&e, of(*exponent)});
    const Expr* slope = arena_.mul({of(*exponent), call(Fn::kLn, base)});
    if (depends(*base, x_))
      slope =
          arena_.add({slope, arena_.mul({exponent, of(*base), arena_.power(base, number(-1))})});
    return arena_.mul({&e, slope});
  }

  const Expr* function(const Expr& e) {
    const Expr* u = e.args.front();
    // The slope of ln |u| is that of ln u.
    if (e.fn == Fn::kLn && u->op == Op::kFunction && u->fn == Fn::kAbs) u = u->args.front();
    if (e.args.size() == 2 && depends(*e.args[1], x_)) return nullptr;
    const Expr* outer = e.fn == Fn::kRoot || e.fn == Fn::kLog ? binary(e, u) : unary(e, u);
    return outer == nullptr ? nullptr : arena_.mul({outer, of(*u)});
  }

  const Expr* binary(const Expr& e, const Expr* u) {
    if (e.fn == Fn::kLog)
      return arena_.power(arena_.mul({u, call(Fn::kLn, e.args[1])}), number(-1));
    return arena_.divide(&e, arena_.mul({e.args[1], u}));
  }

  const Expr* unary(const Expr& e, const Expr* u) {
    switch (e.fn) {
      case Fn::kSin: return call(Fn::kCos, u);
      case Fn::kCos: return arena_.negate(call(Fn::kSin, u));
      case Fn::kTan: return arena_.power(call(Fn::kCos, u), number(-2));
      case Fn::kCot: return arena_.negate(arena_.power(call(Fn::kSin, u), number(-2)));
      case Fn::kSec: return arena_.mul({&e, call(Fn::kTan, u)});
      case Fn::kCsc: return arena_.mul({number(-1), &e, call(Fn::kCot, u)});
      case Fn::kArcsin: return inverse_root(less(number(1), square(u)));
      case Fn::kArccos: return arena_.negate(inverse_root(less(number(1), square(u))));
      case Fn::kArctan: return arena_.power(arena_.add({number(1), square(u)}), number(-1));
      case Fn::kSinh: return call(Fn::kCosh, u);
      case Fn::kCosh: return call(Fn::kSinh, u);
      case Fn::kTanh: return arena_.power(call(Fn::kCosh, u), number(-2));
      case Fn::kArsinh: return inverse_root(arena_.add({square(u), number(1)}));
      case Fn::kExp: return &e;
      case Fn::kLn: return arena_.power(u, number(-1));
      default: return nullptr;
    }
  }

  std::string_view x_;
  Arena& arena_;
};

}  // namespace

bool depends(const Expr& e, std::string_view name) {
  if ((e.symbols & expr::symbol_bit(name)) == 0) return false;
  if (e.op == Op::kSymbol) return e.name == name;
  if (e.op == Op::kBinder && e.name == name)
    return std::any_of(e.args.begin() + (e.args.empty() ? 0 : 1), e.args.end(),
                       [&](const Expr* arg) { return depends(*arg, name); });
  return std::ranges::any_of(e.args, [&](const Expr* arg) { return depends(*arg, name); });
}

const Expr* derivative(const Expr& e, std::string_view x, Arena& arena) {
  return Differentiator(x, arena).of(e);
}

const Expr* derivative(const Expr& e, std::string_view x, std::int64_t order, Arena& arena) {
  if (order < 0 || order > kHighestOrder) return nullptr;
  const Expr* out = &e;
  for (; order > 0 && out != nullptr; --order) out = derivative(*out, x, arena);
  return out;
}

}  // namespace lie::calculus
