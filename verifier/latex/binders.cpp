// Parses sums, products, integrals and limits.
#include <string>

#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"

namespace lie::latex {
namespace {

Expr binder(Fn fn, std::string variable, std::vector<const Expr*> args) {
  return {.op = Op::kBinder, .fn = fn, .name = std::move(variable), .args = std::move(args)};
}

/// Returns a body with the bounds that were given.
std::vector<const Expr*> bounded(const Expr* body, const Expr* lower, const Expr* upper) {
  std::vector<const Expr*> args = {body, lower, upper};
  std::erase(args, nullptr);
  return args;
}

}  // namespace

// Parses one bound: a group, or the one letter that TeX uses (\int^b_a).
const Expr* Parser::bound() {
  if (is(Tok::kBraceOpen)) return fraction_part();
  if (is(Tok::kNumber)) return fraction_part();
  if (!is(Tok::kSymbol)) return exponent();
  const std::string_view name = tok().name;
  ++at_;
  return name == "e" ? arena_.constant("e") : arena_.symbol(normal_name(name));
}

// Parses the bounds after a sign: _{k=1}^{n} (`named`) or _a^b. Empty groups count as absent.
bool Parser::bounds(const Expr*& lower, const Expr*& upper, std::string& variable, bool named) {
  while (is(Tok::kUnderscore) || is(Tok::kCaret)) {
    const bool below = is(Tok::kUnderscore);
    ++at_;
    if (is(Tok::kBraceOpen) && is(Tok::kBraceClose, 1)) {
      at_ += 2;
      continue;
    }
    const bool binds = named && below && is(Tok::kBraceOpen) && is(Tok::kSymbol, 1);
    if (binds) {
      variable = normal_name(tok(1).name);
      bound_.insert(variable);
    }
    const Expr* bound = this->bound();
    if (bound == nullptr) return false;
    if (binds && bound->op == Op::kRelation && bound->args.size() == 2 &&
        bound->relations[0] == Rel::kEqual)
      bound = bound->args[1];
    (below ? lower : upper) = bound;
  }
  return true;
}

const Expr* Parser::repeated(Fn fn) {
  const std::set<std::string, std::less<>> outer = bound_;
  const Expr* lower = nullptr;
  const Expr* upper = nullptr;
  std::string variable;
  if (!bounds(lower, upper, variable, true)) return nullptr;
  const Expr* body = product();
  bound_ = outer;
  if (body == nullptr) return fail("a sum of nothing");
  return arena_.make(binder(fn, std::move(variable), bounded(body, lower, upper)));
}

const Expr* Parser::integral() {
  const Expr* lower = nullptr;
  const Expr* upper = nullptr;
  std::string variable;
  if (!bounds(lower, upper, variable, false)) return nullptr;
  const Expr* body = nullptr;
  {
    const Scoped<std::string*> collects(integral_variable_, &variable);
    const Scoped<std::int64_t> level(integral_nesting_, nesting_ + 1);
    body = sum();
  }
  if (body == nullptr) return fail("an integral of nothing");
  if (variable.empty()) variable.push_back('x');
  if (body->op == Op::kSet && body->args.size() == 1) body = body->args.front();
  return arena_.make(binder(Fn::kIntegral, std::move(variable), bounded(body, lower, upper)));
}

// Parses \lim_{x \to a^+} body.
const Expr* Parser::limit() {
  if (!take(Tok::kUnderscore)) return fail("a limit of what");
  const Expr* approach = nullptr;
  int side = 0;
  {
    const Scoped<bool> inside(in_limit_, true);
    const Scoped<int> fresh(limit_side_, 0);
    approach = fraction_part();
    side = limit_side_;
  }
  if (approach == nullptr || approach->op != Op::kRelation || approach->relations[0] != Rel::kArrow)
    return fail("a limit needs x \\to a");
  const Expr* body = product();
  if (body == nullptr) return fail("a limit of nothing");
  return arena_.make(
      binder(Fn::kLimit, approach->args[0]->name, {body, approach->args[1], arena_.number(side)}));
}

// Returns whether \frac{d}{dx} or \frac{d^2}{dx^2} follows.
bool Parser::at_derivative() const {
  if (!is(Tok::kBraceOpen, 1) || !(is_symbol("d", 2) || is_symbol("partial", 2))) return false;
  std::size_t i = 3;
  if (is(Tok::kCaret, i)) i += is(Tok::kBraceOpen, i + 1) ? 4 : 2;
  return is(Tok::kBraceClose, i) && is(Tok::kBraceOpen, i + 1) &&
         (is_symbol("d", i + 2) || is_symbol("partial", i + 2)) && is(Tok::kSymbol, i + 3);
}

}  // namespace lie::latex
