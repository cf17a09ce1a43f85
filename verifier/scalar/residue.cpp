#include "verifier/scalar/residue.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "verifier/exact/modular.h"
#include "verifier/scalar/point.h"
#include "verifier/scalar/rational_value.h"

namespace lie::scalar {
namespace {

using exact::Rational, expr::Expr, expr::Fn, expr::Op;

class Evaluator {
 public:
  Evaluator(std::uint64_t seed, Budget& budget) : seed_(seed), budget_(budget) {}

  bool opaque() const { return opaque_; }

  bool eval(const Expr& e, std::uint64_t& out) {
    if (!budget_.spend()) return false;
    switch (e.op) {
      case Op::kNumber: return exact::residue(e.value, out);
      case Op::kSymbol: out = name_value(e.name); return true;
      case Op::kText: out = name_value(fmt::format("text:{}", e.name)); return true;
      case Op::kConstant: return constant(e, out);
      case Op::kAdd: return fold(e, 0, exact::add_mod, out);
      case Op::kMul: return fold(e, 1, exact::mul_mod, out);
      case Op::kPow: return power(e, out);
      case Op::kPercent: return percent(e, out);
      case Op::kBased: return based(e, out);
      case Op::kFunction: return function(e, out);
      case Op::kBinder: return binder(e, out);
      default: return call(fmt::format("{}{}", static_cast<int>(e.op), e.name), e, out);
    }
  }

 private:
  using Combine = std::uint64_t (*)(std::uint64_t, std::uint64_t);

  std::uint64_t name_value(const std::string& name) const {
    if (const auto at = bound_.find(name); at != bound_.end()) return at->second;
    return stable_hash(name, seed_) % exact::kPrime;
  }

  bool constant(const Expr& e, std::uint64_t& out) {
    if (e.name == "i") {
      out = exact::kRootOfMinusOne;
      return true;
    }
    opaque_ = true;
    out = stable_hash(fmt::format("constant:{}", e.name), 0) % exact::kPrime;
    return true;
  }

  bool fold(const Expr& e, std::uint64_t start, Combine combine, std::uint64_t& out) {
    out = start;
    for (const Expr* arg : e.args) {
      std::uint64_t value = 0;
      if (!eval(*arg, value)) return false;
      out = combine(out, value);
    }
    return true;
  }

  bool power(const Expr& e, std::uint64_t& out) {
    const std::optional<Rational> exponent = rational_value(*e.args[1], budget_);
    if (!exponent || !exponent->is_integer()) return call("pow", e, out);
    std::uint64_t base = 0;
    if (!eval(*e.args[0], base)) return false;
    if (base == 0 && exponent->sign() <= 0) return false;
    out = exact::pow_mod(base, exact::exponent_residue(*exponent));
    return true;
  }

  bool percent(const Expr& e, std::uint64_t& out) {
    if (!eval(*e.args[0], out)) return false;
    out = exact::mul_mod(out, exact::invert_mod(100));
    return true;
  }

  bool based(const Expr& e, std::uint64_t& out) {
    const std::optional<Rational> value = rational_value(e, budget_);
    return value && exact::residue(*value, out);
  }

  bool function(const Expr& e, std::uint64_t& out) {
    if (const std::optional<Rational> value = rational_value(e, budget_))
      return exact::residue(*value, out);
    return call(fmt::format("fn{}", static_cast<int>(e.fn)), e, out);
  }

  // The bound variable has a value of its own, so that its name does not matter.
  bool binder(const Expr& e, std::uint64_t& out) {
    if (const std::optional<Rational> value = rational_value(e, budget_))
      return exact::residue(*value, out);
    const auto before = bound_;
    bound_[e.name] = stable_hash("bound", seed_ + bound_.size()) % exact::kPrime;
    const bool ok = call(fmt::format("binder{}", static_cast<int>(e.fn)), e, out);
    bound_ = before;
    return ok;
  }

  bool call(const std::string& name, const Expr& e, std::uint64_t& out) {
    opaque_ = true;
    std::uint64_t hash = stable_hash(name, e.args.size());
    for (const Expr* arg : e.args) {
      std::uint64_t value = 0;
      if (!eval(*arg, value)) return false;
      hash = stable_hash({reinterpret_cast<const char*>(&value), sizeof value}, hash);
    }
    out = hash % exact::kPrime;
    return true;
  }

  std::uint64_t seed_;
  Budget& budget_;
  bool opaque_ = false;
  std::map<std::string, std::uint64_t> bound_;
};

}  // namespace

std::optional<Residue> residue_at(const Expr& e, std::uint64_t seed, Budget& budget) {
  Evaluator evaluator(seed, budget);
  Residue out;
  if (!evaluator.eval(e, out.value)) return std::nullopt;
  out.opaque = evaluator.opaque();
  return out;
}

}  // namespace lie::scalar
