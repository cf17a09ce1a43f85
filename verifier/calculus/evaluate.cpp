#include "verifier/calculus/evaluate.h"

#include "verifier/calculus/continuity.h"
#include "verifier/calculus/derivative.h"
#include "verifier/calculus/sum.h"
#include "verifier/expr/substitute.h"
#include "verifier/scalar/rational_value.h"

namespace lie::calculus {
namespace {

using expr::Fn, expr::Op;

const Expr* derived(const Expr& e, Arena& arena) {
  const auto order = e.args.size() == 2 && e.args[1]->op == Op::kNumber
                         ? e.args[1]->value.small_integer()
                         : std::nullopt;
  return order ? derivative(*e.args[0], e.name, *order, arena) : nullptr;
}

// Returns the limit at a finite point where the expression is analytic: its value there.
const Expr* limit(const Expr& e, Arena& arena, const VerifierOptions& options) {
  if (e.args.size() < 2 || e.args[1]->has(expr::trait::kInfinity)) return nullptr;
  const Place place{e.name, e.args[1]};
  return is_analytic_at(*e.args[0], place, arena, options) ? value_at(*e.args[0], place, arena)
                                                           : nullptr;
}

// Definite integrals of constants have no closed form here. Balls enclose them.
const Expr* carried_out(const Expr& e, Arena& arena, const VerifierOptions& options) {
  switch (e.fn) {
    case Fn::kDerivative: return derived(e, arena);
    case Fn::kLimit: return limit(e, arena, options);
    case Fn::kSum: return sum_value(e, arena);
    default: return nullptr;
  }
}

class Evaluation {
 public:
  Evaluation(Arena& arena, const VerifierOptions& options) : arena_(arena), options_(options) {}

  const Expr* of(const Expr* e) {
    if (!has_binder(*e)) return e;
    e = map_args(e, arena_, [this](const Expr* arg) { return of(arg); });
    if (e == nullptr || e->op != Op::kBinder) return e;
    const Expr* value = carried_out(*e, arena_, options_);
    return value == nullptr ? e : scalar::folded(value, arena_);
  }

 private:
  Arena& arena_;
  const VerifierOptions& options_;
};

// Signs and zeros are decided exactly, whatever the rule for decimals.
VerifierOptions exactly(const VerifierOptions& options) {
  VerifierOptions out = options;
  out.decimals = DecimalRule::kExact;
  return out;
}

}  // namespace

const Expr* evaluate(const Expr* e, Arena& arena, const VerifierOptions& options) {
  if (!has_binder(*e)) return e;
  const VerifierOptions exact = exactly(options);
  const Expr* out = Evaluation(arena, exact).of(e);
  return arena.budget().exhausted() ? nullptr : out;
}

scalar::Tri is_antiderivative(const Expr& integral, const Expr& answer, Arena& arena,
                              const VerifierOptions& options) {
  if (integral.op != Op::kBinder || integral.fn != Fn::kIntegral || integral.args.size() != 1)
    return scalar::Tri::kUnknown;
  if (!depends(answer, integral.name)) return scalar::Tri::kNo;
  const Expr* slope = derivative(answer, integral.name, arena);
  if (slope == nullptr || arena.budget().exhausted()) return scalar::Tri::kUnknown;
  return scalar::equal_scalars(*integral.args[0], *slope, options, arena.budget());
}

}  // namespace lie::calculus
