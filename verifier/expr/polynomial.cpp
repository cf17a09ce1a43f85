#include "verifier/expr/polynomial.h"

#include <flint/fmpq_mpoly.h>
#include <flint/fmpz_mpoly.h>

#include <algorithm>
#include <map>
#include <string>

namespace lie::expr {
namespace {

using exact::Rational;

constexpr slong kMostTerms = 64;
constexpr std::int64_t kMostDegree = 32;
constexpr std::size_t kMostVariables = 12;

// A polynomial of a context that outlives it.
class Poly {
 public:
  explicit Poly(const fmpq_mpoly_ctx_struct* context) : context_(context) {
    fmpq_mpoly_init(value_, context);
  }
  Poly(const Poly&) = delete;
  Poly& operator=(const Poly&) = delete;
  ~Poly() { fmpq_mpoly_clear(value_, context_); }
  fmpq_mpoly_struct* get() { return value_; }

 private:
  fmpq_mpoly_t value_;
  const fmpq_mpoly_ctx_struct* context_;
};

class Context {
 public:
  explicit Context(std::size_t variables) {
    fmpq_mpoly_ctx_init(value_, static_cast<slong>(variables), ORD_LEX);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { fmpq_mpoly_ctx_clear(value_); }
  const fmpq_mpoly_ctx_struct* get() const { return value_; }

 private:
  fmpq_mpoly_ctx_t value_;
};

bool is_whole_power(const Expr& e) {
  if (e.op != Op::kPow || e.args[1]->op != Op::kNumber) return false;
  const auto n = e.args[1]->value.small_integer();
  return n && *n >= 0 && *n <= kMostDegree;
}

// A number, or a number to the -1st power.
bool constant_value(const Expr& e, Rational& out) {
  if (e.op == Op::kNumber) {
    out = e.value;
    return true;
  }
  if (e.op != Op::kPow || e.args[0]->op != Op::kNumber || e.args[1]->op != Op::kNumber)
    return false;
  if (!(e.args[1]->value == Rational(-1)) || e.args[0]->value.is_zero()) return false;
  out = Rational(1) / e.args[0]->value;
  return true;
}

class Reader {
 public:
  explicit Reader(Arena& arena) : arena_(arena) {}

  // The variables of all expressions, by their printed form.
  void collect(const Expr& e) {
    Rational ignored;
    if (constant_value(e, ignored) || !arena_.budget().spend()) return;
    if (e.op == Op::kAdd || e.op == Op::kMul) {
      for (const Expr* arg : e.args) collect(*arg);
    } else if (is_whole_power(e)) {
      collect(*e.args[0]);
    } else if (variables_.emplace(to_text(e), generators_.size()).second) {
      generators_.push_back(&e);
    }
  }

  std::size_t size() const { return generators_.size(); }

  bool read(const Expr& e, const Context& context, Poly& out) {
    Rational constant;
    if (!arena_.budget().spend(8)) return false;
    if (constant_value(e, constant)) {
      fmpq_mpoly_set_fmpq(out.get(), constant.get(), context.get());
      return true;
    }
    if (e.op == Op::kAdd || e.op == Op::kMul) return fold(e, context, out);
    if (is_whole_power(e)) return power(e, context, out);
    fmpq_mpoly_gen(out.get(), static_cast<slong>(variables_.at(to_text(e))), context.get());
    return true;
  }

  // Back to an expression.
  const Expr* write(Poly& poly, const Context& context) {
    std::vector<const Expr*> terms;
    std::vector<ulong> exponents(generators_.size());
    for (slong i = 0; i < fmpq_mpoly_length(poly.get(), context.get()); ++i) {
      Rational coefficient;
      fmpq_mpoly_get_term_coeff_fmpq(coefficient.get(), poly.get(), i, context.get());
      fmpq_mpoly_get_term_exp_ui(exponents.data(), poly.get(), i, context.get());
      std::vector<const Expr*> factors = {arena_.number(coefficient)};
      for (std::size_t v = 0; v < exponents.size(); ++v)
        if (exponents[v] > 0)
          factors.push_back(
              arena_.power(generators_[v], arena_.number(static_cast<std::int64_t>(exponents[v]))));
      terms.push_back(arena_.mul(std::move(factors)));
    }
    return terms.empty() ? arena_.number(0) : arena_.add(std::move(terms));
  }

 private:
  bool small(Poly& poly, const Context& context) {
    return fmpq_mpoly_length(poly.get(), context.get()) <= kMostTerms &&
           fmpq_mpoly_total_degree_si(poly.get(), context.get()) <= kMostDegree;
  }

  bool fold(const Expr& e, const Context& context, Poly& out) {
    fmpq_mpoly_set_si(out.get(), e.op == Op::kMul ? 1 : 0, context.get());
    for (const Expr* arg : e.args) {
      Poly next(context.get());
      if (!read(*arg, context, next)) return false;
      if (e.op == Op::kMul)
        fmpq_mpoly_mul(out.get(), out.get(), next.get(), context.get());
      else
        fmpq_mpoly_add(out.get(), out.get(), next.get(), context.get());
      if (!small(out, context)) return false;
    }
    return true;
  }

  bool power(const Expr& e, const Context& context, Poly& out) {
    Poly base(context.get());
    if (!read(*e.args[0], context, base)) return false;
    fmpq_mpoly_set_si(out.get(), 1, context.get());
    const std::int64_t n = e.args[1]->value.small_integer().value_or(0);
    for (std::int64_t i = 0; i < n; ++i) {
      fmpq_mpoly_mul(out.get(), out.get(), base.get(), context.get());
      if (!small(out, context)) return false;
    }
    return true;
  }

  Arena& arena_;
  std::map<std::string, std::size_t> variables_;
  std::vector<const Expr*> generators_;
};

// The content of a polynomial with whole coefficients; 0 where one is not whole.
Rational whole_content(Poly& poly, const Context& context) {
  Rational content;
  for (slong i = 0; i < fmpq_mpoly_length(poly.get(), context.get()); ++i) {
    Rational coefficient;
    fmpq_mpoly_get_term_coeff_fmpq(coefficient.get(), poly.get(), i, context.get());
    if (!coefficient.is_integer()) return Rational(0);
    fmpq_gcd(content.get(), content.get(), coefficient.get());
  }
  return content;
}

// out = lcm(out, next), given their gcd.
bool make_lcm(Poly& out, Poly& next, Poly& common, const Context& context) {
  Poly product(context.get());
  fmpq_mpoly_mul(product.get(), out.get(), next.get(), context.get());
  return fmpq_mpoly_divides(out.get(), product.get(), common.get(), context.get()) != 0;
}

}  // namespace

const Expr* polynomial_gcd(const std::vector<const Expr*>& args, bool lcm, Arena& arena) {
  Reader reader(arena);
  for (const Expr* arg : args) reader.collect(*arg);
  if (reader.size() > kMostVariables || reader.size() == 0) return nullptr;
  const Context context(reader.size());
  Poly out(context.get());
  Rational content;  // of whole polynomials; 0 once a coefficient is not whole
  for (const Expr* arg : args) {
    Poly next(context.get());
    if (!reader.read(*arg, context, next) || fmpq_mpoly_is_zero(next.get(), context.get()) != 0)
      return nullptr;
    const Rational here = whole_content(next, context);
    if (arg == args.front()) {
      fmpq_mpoly_set(out.get(), next.get(), context.get());
      content = here;
      continue;
    }
    Poly common(context.get());
    if (fmpq_mpoly_gcd(common.get(), out.get(), next.get(), context.get()) == 0) return nullptr;
    Rational shared;
    fmpq_gcd(shared.get(), content.get(), here.get());
    const bool whole = !content.is_zero() && !here.is_zero();
    content = !whole ? Rational(0) : lcm ? content / shared * here : shared;
    if (!lcm)
      fmpq_mpoly_set(out.get(), common.get(), context.get());
    else if (!make_lcm(out, next, common, context))
      return nullptr;
  }
  // A polynomial is its content times a primitive one; FLINT's gcd has lost the content.
  if (content.is_zero())
    fmpq_mpoly_make_monic(out.get(), out.get(), context.get());
  else
    fmpq_set(out.get()->content, content.get());
  return reader.write(out, context);
}

}  // namespace lie::expr
