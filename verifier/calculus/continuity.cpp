#include "verifier/calculus/continuity.h"

#include <algorithm>

#include "verifier/calculus/derivative.h"
#include "verifier/expr/substitute.h"
#include "verifier/scalar/equality.h"

namespace lie::calculus {
namespace {

using expr::Fn, expr::Op, scalar::Tri;

// Decides whether e is 0.
Tri is_zero(const Expr* e, Arena& arena, const VerifierOptions& options) {
  const Expr* zero = arena.number(0);
  if (e == nullptr || zero == nullptr) return Tri::kUnknown;
  return scalar::equal_scalars(*e, *zero, options, arena.budget());
}

// Returns -1, 0 or 1 for the sign of a real constant, and 2 where it is undecided.
int sign_of(const Expr* e, Arena& arena, const VerifierOptions& options) {
  const Expr* zero = arena.number(0);
  if (e == nullptr || zero == nullptr || has_names(*e)) return 2;
  return scalar::compare_reals(*e, *zero, options, arena.budget());
}

class Prover {
 public:
  Prover(const Place& place, Arena& arena, const VerifierOptions& options)
      : place_(place), arena_(arena), options_(options) {}

  bool analytic(const Expr& e) {
    if (!arena_.budget().spend()) return false;
    if (!depends(e, place_.x)) return is_scalar(e);
    if (e.op == Op::kSymbol) return true;
    if (e.op == Op::kPow) return power(e);
    if (e.op == Op::kFunction) return function(e);
    return (e.op == Op::kAdd || e.op == Op::kMul) && all_args(e);
  }

 private:
  bool all_args(const Expr& e) {
    return std::ranges::all_of(e.args, [this](const Expr* arg) { return analytic(*arg); });
  }

  bool positive(const Expr& e) {
    return sign_of(value_at(e, place_, arena_), arena_, options_) == 1;
  }
  bool nonzero(const Expr* e) { return is_zero(e, arena_, options_) == Tri::kNo; }

  bool nonzero_after(Fn fn, const Expr& u) {
    const Expr* call = arena_.call(fn, {&u});
    return call != nullptr && nonzero(value_at(*call, place_, arena_));
  }

  bool power(const Expr& e) {
    if (!all_args(e)) return false;
    const Expr& exponent = *e.args[1];
    if (exponent.op != Op::kNumber || !exponent.value.is_integer()) return positive(*e.args[0]);
    return exponent.value.sign() >= 0 || nonzero(value_at(*e.args[0], place_, arena_));
  }

  bool function(const Expr& e) {
    if (!all_args(e)) return false;
    const Expr& u = *e.args.front();
    if (is_one_of(e.fn, Fn::kArctan, Fn::kTanh, Fn::kArsinh))
      return sign_of(value_at(u, place_, arena_), arena_, options_) != 2;  // real
    if (is_one_of(e.fn, Fn::kTan, Fn::kSec)) return nonzero_after(Fn::kCos, u);
    if (is_one_of(e.fn, Fn::kCot, Fn::kCsc)) return nonzero_after(Fn::kSin, u);
    if (e.fn == Fn::kLn) return positive(u);
    if (is_one_of(e.fn, Fn::kLog, Fn::kRoot)) return !depends(*e.args[1], place_.x) && positive(u);
    return is_one_of(e.fn, Fn::kSin, Fn::kCos, Fn::kExp, Fn::kSinh, Fn::kCosh);
  }

  const Place& place_;
  Arena& arena_;
  const VerifierOptions& options_;
};

}  // namespace

const Expr* value_at(const Expr& e, const Place& place, Arena& arena) {
  return arena.budget().spend() ? substitute(&e, place.x, place.value, arena) : nullptr;
}

bool is_analytic_at(const Expr& e, const Place& place, Arena& arena,
                    const VerifierOptions& options) {
  return Prover(place, arena, options).analytic(e);
}

}  // namespace lie::calculus
