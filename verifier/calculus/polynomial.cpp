#include "verifier/calculus/polynomial.h"

#include <algorithm>

#include "verifier/calculus/derivative.h"

namespace lie::calculus {
namespace {

using exact::Rational, expr::Op;

constexpr std::size_t kHighestDegree = 32;

class Reader {
 public:
  Reader(std::string_view x, Arena& arena) : x_(x), arena_(arena) {}

  std::optional<Polynomial> polynomial(const Expr& e) {
    if (!arena_.budget().spend()) return std::nullopt;
    if (!depends(e, x_)) return is_scalar(e) ? std::optional<Polynomial>({&e}) : std::nullopt;
    if (e.op == Op::kSymbol) return Polynomial{nullptr, arena_.number(1)};
    if (e.op == Op::kAdd || e.op == Op::kMul) return fold(e);
    if (e.op != Op::kPow) return std::nullopt;
    const std::optional<std::int64_t> n = whole(*e.args[1]);
    if (!n || *n < 0) return std::nullopt;
    const std::optional<Polynomial> base = polynomial(*e.args[0]);
    return base ? power(*base, *n) : std::nullopt;
  }

 private:
  static std::optional<std::int64_t> whole(const Expr& e) {
    if (e.op != Op::kNumber) return std::nullopt;
    const std::optional<std::int64_t> n = e.value.small_integer();
    return n && std::abs(*n) <= static_cast<std::int64_t>(kHighestDegree) ? n : std::nullopt;
  }

  const Expr* sum(const Expr* a, const Expr* b) {
    return a == nullptr ? b : b == nullptr ? a : arena_.add({a, b});
  }

  Polynomial plus(Polynomial a, const Polynomial& b) {
    a.resize(std::max(a.size(), b.size()));
    for (std::size_t k = 0; k < b.size(); ++k) a[k] = sum(a[k], b[k]);
    return a;
  }

  std::optional<Polynomial> times(const Polynomial& a, const Polynomial& b) {
    const std::size_t size = a.size() + b.size() - 1;
    if (size > kHighestDegree + 1 || !arena_.budget().spend(8)) return std::nullopt;
    Polynomial out(size);
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j)
        if (a[i] != nullptr && b[j] != nullptr) {
          const Expr* product = product_of(a[i], b[j]);
          if (product == nullptr) return std::nullopt;
          out[i + j] = sum_of(out[i + j], product);
        }
    return out;
  }

  // Numbers are multiplied and added immediately, so that coefficients stay short.
  const Expr* product_of(const Expr* a, const Expr* b) {
    if (a->op == Op::kNumber && b->op == Op::kNumber)
      return arena_.number(a->value * b->value, a->flag || b->flag);
    return arena_.mul({a, b});
  }
  const Expr* sum_of(const Expr* a, const Expr* b) {
    if (a != nullptr && a->op == Op::kNumber && b->op == Op::kNumber)
      return arena_.number(a->value + b->value, a->flag || b->flag);
    return sum(a, b);
  }

  std::optional<Polynomial> power(const Polynomial& base, std::int64_t n) {
    std::optional<Polynomial> out = Polynomial{arena_.number(1)};
    for (; out && n > 0; --n) out = times(*out, base);
    return out;
  }

  std::optional<Polynomial> fold(const Expr& e) {
    Polynomial out;
    if (e.op == Op::kMul) out.push_back(arena_.number(1));
    for (const Expr* arg : e.args) {
      std::optional<Polynomial> next = polynomial(*arg);
      if (next) next = e.op == Op::kAdd ? plus(std::move(out), *next) : times(out, *next);
      if (!next) return std::nullopt;
      out = std::move(*next);
    }
    return out;
  }

  std::string_view x_;
  Arena& arena_;
};

}  // namespace

std::optional<Polynomial> polynomial_in(const Expr& e, std::string_view x, Arena& arena) {
  return Reader(x, arena).polynomial(e);
}

const Expr* expression(const Polynomial& p, const Expr* x, Arena& arena) {
  std::vector<const Expr*> terms;
  for (std::size_t k = 0; k < p.size(); ++k)
    if (p[k] != nullptr)
      terms.push_back(
          k == 0 ? p[k]
                 : arena.mul({p[k], arena.power(x, arena.number(static_cast<std::int64_t>(k)))}));
  return terms.empty() ? arena.number(0) : arena.add(std::move(terms));
}

}  // namespace lie::calculus
