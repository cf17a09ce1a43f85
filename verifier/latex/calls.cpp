// Parses functions with their arguments, fractions, roots, binomials, sums and products.
#include <string>

#include "common/text/scan.h"
#include "verifier/latex/measures.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"

namespace lie::latex {
namespace {

// Returns the inverse of a function, which follows it in Fn at a fixed distance.
Fn inverse_of(Fn fn) {
  const auto after = [fn](int distance) {
    return static_cast<Fn>(static_cast<int>(fn) + distance);
  };
  if (Fn::kSin <= fn && fn <= Fn::kCsc) return after(6);
  return Fn::kSinh <= fn && fn <= Fn::kTanh ? after(3) : Fn::kNone;
}

bool takes_many(Fn fn) {
  return fn == Fn::kGcd || fn == Fn::kLcm || fn == Fn::kMax || fn == Fn::kMin;
}

// Returns the function of \operatorname{sh}, \operatorname{ch} and \operatorname{th}. Elsewhere
// these letters are no functions.
Fn hyperbolic(std::string_view name) {
  if (name == "sh") return Fn::kSinh;
  if (name == "ch") return Fn::kCosh;
  return name == "th" ? Fn::kTanh : Fn::kNone;
}

bool is_minus_one(const Expr* e) {
  return e != nullptr && e->op == Op::kNumber && e->value == exact::Rational(-1);
}

}  // namespace

const Expr* Parser::function(Fn fn) {
  const Expr* power = nullptr;
  const Expr* base = nullptr;
  while (is(Tok::kCaret) || is(Tok::kUnderscore)) {
    const bool above = is(Tok::kCaret);
    ++at_;
    const bool digit = is(Tok::kNumber) && !above;
    if (digit && fn == Fn::kLog && power == nullptr && at_joined_base()) return logarithm();
    const Expr* part = digit ? fraction_part() : exponent();
    if (part == nullptr) return nullptr;
    (above ? power : base) = part;
  }
  if (is_minus_one(power) && inverse_of(fn) != Fn::kNone) {
    fn = inverse_of(fn);
    power = nullptr;
  }
  std::vector<const Expr*> args;
  if (!arguments(fn, args)) return nullptr;
  if (fn == Fn::kLog && (args.size() == 1 || base != nullptr))
    args.push_back(base != nullptr ? base : arena_.number(10));
  if (!takes_many(fn) && args.size() != (fn == Fn::kLog ? 2 : 1))
    return fail("a function with too many arguments");
  const Expr* call = arena_.call(fn, std::move(args));
  return power == nullptr ? call : arena_.power(call, power);
}

// Returns whether a number after \log_ holds base and argument: \log_28 is \log_2 8, since TeX
// takes one digit. In \log_10 100 it is the base.
bool Parser::at_joined_base() const {
  const std::string_view digits = tok().name;
  return digits.size() > 1 && !tok().decimal && digits[0] > '1' && digits[1] != '0' &&
         std::ranges::all_of(digits, is_digit) &&
         is_one_of(tok(1).kind, Tok::kEnd, Tok::kComma, Tok::kPlus, Tok::kMinus, Tok::kRelation,
                   Tok::kClose, Tok::kBraceClose, Tok::kTimes, Tok::kDivide, Tok::kPeriod);
}

// Parses the digits of \log_28.
const Expr* Parser::logarithm() {
  const std::string_view digits = tok().name;
  std::optional<exact::Rational> argument = exact::from_decimal(digits.substr(1));
  if (!argument) return fail("a logarithm without its argument");
  ++at_;
  return arena_.call(Fn::kLog,
                     {arena_.number(*std::move(argument)), arena_.number(digits[0] - '0')});
}

bool Parser::arguments(Fn fn, std::vector<const Expr*>& args) {
  if (!is(Tok::kOpen) && !is(Tok::kBraceOpen)) {
    args.push_back(bare_argument());
    return args.back() != nullptr;
  }
  const Scoped<bool> separate(thousands_ok_, false);
  const Expr* inner = is(Tok::kOpen) ? brackets() : braces();
  if (inner == nullptr) return false;
  const bool several = inner->op == Op::kTuple || inner->op == Op::kList || inner->op == Op::kSet;
  // The base of log(8, 2) follows the comma.
  const bool with_base = fn == Fn::kLog && inner->args.size() == 2;
  if (several && (takes_many(fn) || inner->args.size() == 1 || with_base)) {
    args = inner->args;
  } else if (several) {
    fail("a function with too many arguments");
    return false;
  } else {
    args.push_back(inner);
  }
  return true;
}

// Parses the argument of \sin 2x and \ln xy: numbers and letters up to the next function, bracket
// or operator.
const Expr* Parser::bare_argument() {
  std::vector<const Expr*> factors;
  bool only_numbers = true;
  while (factors.empty() ||
         (starts_operand() && !is(Tok::kFunction) && !is(Tok::kText) && !is(Tok::kWord) &&
          (only_numbers || (!is(Tok::kOpen) && !is(Tok::kBar))))) {
    only_numbers = only_numbers && is(Tok::kNumber);
    const Expr* factor = is(Tok::kMinus) && factors.empty() ? operand() : power_or_postfix();
    if (factor == nullptr) return fail("a function without its argument");
    factors.push_back(factor);
  }
  return arena_.mul(std::move(factors));
}

const Expr* Parser::operator_name() {
  const std::string_view word = tok().name;
  ++at_;
  const Meaning* meaning = command(word);
  if (meaning != nullptr && meaning->kind == Tok::kFunction) return function(meaning->fn);
  const std::string name = normal_name(word);
  if (name == "cis") return cis();
  if (const Fn fn = hyperbolic(name); fn != Fn::kNone) return function(fn);
  if (name.empty()) return fail("an operator without a name");
  return is_open('(') || is_open('[') ? applied(name) : arena_.symbol(name);
}

// Parses cis x, which is cos x + i sin x.
const Expr* Parser::cis() {
  std::vector<const Expr*> args;
  if (!arguments(Fn::kSin, args)) return nullptr;
  const Expr* sine = arena_.mul({arena_.constant("i"), arena_.call(Fn::kSin, args)});
  return arena_.add({arena_.call(Fn::kCos, args), sine});
}

// --- fractions and roots ---------------------------------------------------------------------

// Parses a numerator, denominator or radicand: a group, or the one sign that TeX uses (\frac12 is a
// half).
const Expr* Parser::fraction_part() {
  const Scoped<bool> groups_ok(thousands_ok_, true);
  const Scoped<bool> ratio_ok(colon_is_ratio_, true);
  if (take(Tok::kBraceOpen)) {
    const Expr* inner = groups();
    if (inner == nullptr) return fail("an empty group");
    if (!take(Tok::kBraceClose)) return fail("a group is not closed");
    return inner;
  }
  if (!is(Tok::kNumber)) return atom();
  // TeX uses one digit of a longer number: \frac12, \frac123.
  const Token& t = tok();
  ++at_;
  return arena_.number(lexed_.numbers[t.number], t.decimal);
}

namespace {

// Returns whether a token is the d of a derivative: d, \mathrm{d} or \partial.
bool is_d(const Token& token) {
  return token.kind == Tok::kText
             ? trimmed(token.name) == "d"
             : token.kind == Tok::kSymbol && is_one_of(token.name, "d", "partial");
}

}  // namespace

// Returns whether \frac{d}{dx} or \frac{d^2}{dx^2} follows.
bool Parser::at_derivative() const {
  if (!is(Tok::kBraceOpen, 1) || !is_d(tok(2))) return false;
  std::size_t i = 3;
  if (is(Tok::kCaret, i)) i += is(Tok::kBraceOpen, i + 1) ? 4 : 2;
  return is(Tok::kBraceClose, i) && is(Tok::kBraceOpen, i + 1) && is_d(tok(i + 2)) &&
         is(Tok::kSymbol, i + 3);
}

// Returns the letters and digits of tokens, without the command of an upright d.
std::string Parser::plain_letters(std::size_t first, std::size_t last) const {
  std::string out;
  for (std::size_t i = first; i < last; ++i)
    out += normal_name(is_d(tok(i)) ? trimmed(tok(i).name) : source(at_ + i, at_ + i + 1));
  return out;
}

// Returns the token after the denominator dx^2 or \partial x \partial y in braces, or 0.
std::size_t Parser::after_differentials(std::size_t ahead) const {
  if (!is(Tok::kBraceOpen, ahead)) return 0;
  bool any = false;
  for (++ahead; !is(Tok::kBraceClose, ahead); any = true) {
    if (!is_d(tok(ahead)) || !is(Tok::kSymbol, ahead + 1)) return 0;
    ahead += 2;
    if (is(Tok::kCaret, ahead)) ahead += is(Tok::kBraceOpen, ahead + 1) ? 4 : 2;
  }
  return any ? ahead + 1 : 0;
}

// Parses \frac{dy}{dx} and \frac{d^2 y}{dx^2}, where d is no factor.
const Expr* Parser::derivative() {
  if (!is(Tok::kBraceOpen, 1) || !is_d(tok(2))) return nullptr;
  std::size_t top = 3, depth = 1;
  if (is(Tok::kCaret, top)) top += is(Tok::kBraceOpen, top + 1) ? 4 : 2;
  if (is(Tok::kBraceClose, top) || is(Tok::kEnd, top)) return nullptr;
  std::size_t close = top;
  for (; !is(Tok::kEnd, close); ++close) {
    if (is(Tok::kBraceOpen, close)) ++depth;
    if (is(Tok::kBraceClose, close) && --depth == 0) break;
  }
  const std::size_t after = after_differentials(close + 1);
  if (after == 0) return nullptr;
  std::string name = plain_letters(2, top) + "/" + plain_letters(close + 2, after - 1);
  const std::size_t end = at_ + after;
  at_ += top;
  const Expr* of = product();
  if (of == nullptr || !is(Tok::kBraceClose)) return fail("a derivative");
  at_ = end;
  return arena_.make({.op = Op::kApply, .name = std::move(name), .args = {of}});
}

// Parses dy/dx.
const Expr* Parser::inline_derivative() {
  const auto letter = [this](std::size_t ahead) {
    return is(Tok::kSymbol, ahead) && !tok(ahead).spaced;
  };
  if (!is_symbol("d") || !letter(1) || !is(Tok::kDivide, 2) || !is_symbol("d", 3) || !letter(4))
    return nullptr;
  std::string name = "d/d" + normal_name(tok(4).name);
  const Expr* of = arena_.symbol(normal_name(tok(1).name));
  at_ += 5;
  return arena_.make({.op = Op::kApply, .name = std::move(name), .args = {of}});
}

const Expr* Parser::fraction() {
  if (at_derivative()) return fail("a derivative");
  if (const Expr* quotient = derivative()) return quotient;
  if (!error_.reason.empty()) return nullptr;
  const bool digits =
      is(Tok::kNumber, 1) && !tok(1).decimal && tok(1).name.size() == 2 && !is(Tok::kBraceOpen, 2);
  ++at_;
  if (!bare_fractions_ && !is(Tok::kBraceOpen)) return fail("a fraction without braces");
  if (digits) {
    const std::string_view name = tok().name;
    ++at_;
    if (name[1] == '0') return arena_.divide(arena_.number(name[0] - '0'), arena_.number(0));
    return arena_.number(exact::Rational(name[0] - '0', name[1] - '0'));
  }
  const Expr* top = fraction_part();
  if (top == nullptr) return fail("a fraction without a numerator");
  const Expr* bottom = fraction_part();
  if (bottom == nullptr) return fail("a fraction without a denominator");
  return divided(top, bottom, false, arena_);
}

const Expr* Parser::root() {
  const std::string_view written = tok().name;
  ++at_;
  const Expr* degree = written.empty() ? nullptr : arena_.number(written.front() - '0');
  if (is_open('[') && text_[tok().begin] == '[') {
    degree = brackets();
    if (degree == nullptr) return nullptr;
  }
  const Expr* radicand = is(Tok::kOpen) ? brackets() : fraction_part();
  if (radicand == nullptr) return fail("a root of nothing");
  if (degree == nullptr) degree = arena_.number(2);
  const bool whole = degree != nullptr && degree->op == Op::kNumber && degree->value.sign() > 0;
  return arena_.power(radicand, whole ? arena_.number(exact::Rational(1) / degree->value)
                                      : arena_.divide(arena_.number(1), degree));
}

const Expr* Parser::binomial() {
  ++at_;
  const std::string_view digits = tok().name;
  // TeX takes one digit each of \binom52.
  if (is(Tok::kNumber) && !tok().decimal && digits.size() == 2 && !is(Tok::kBraceOpen, 1)) {
    ++at_;
    return arena_.call(Fn::kBinomial,
                       {arena_.number(digits[0] - '0'), arena_.number(digits[1] - '0')});
  }
  const Expr* top = fraction_part();
  const Expr* bottom = top == nullptr ? nullptr : fraction_part();
  return bottom == nullptr ? fail("an incomplete binomial")
                           : arena_.call(Fn::kBinomial, {top, bottom});
}

// Returns whether {}^5C_2 or {}_5C_2 follows, or the same with P. The number may be in braces.
bool Parser::at_selection() const {
  if (!is(Tok::kBraceOpen) || !is(Tok::kBraceClose, 1) ||
      !(is(Tok::kCaret, 2) || is(Tok::kUnderscore, 2)))
    return false;
  const std::size_t letter = is(Tok::kBraceOpen, 3) ? 6 : 4;
  return (is_symbol("C", letter) || is_symbol("P", letter)) && is(Tok::kUnderscore, letter + 1);
}

// Parses the numbers of combinations {}^5C_2 and of arrangements {}^5P_2.
const Expr* Parser::selection() {
  at_ += 3;
  const Expr* all = fraction_part();
  const bool arranged = is_symbol("P");
  at_ += 2;
  const Expr* chosen = all == nullptr ? nullptr : fraction_part();
  if (chosen == nullptr) return fail("a number of combinations");
  const Expr* combinations = arena_.call(Fn::kBinomial, {all, chosen});
  if (!arranged) return combinations;
  return arena_.mul({combinations, arena_.call(Fn::kFactorial, {chosen})});
}

// --- sums and products -------------------------------------------------------------------------

// Parses one bound: a group, or the one letter that TeX uses (\int^b_a).
const Expr* Parser::bound() {
  if (is(Tok::kBraceOpen) || is(Tok::kNumber)) return fraction_part();
  if (!is(Tok::kSymbol)) return exponent();
  const std::string_view name = tok().name;
  ++at_;
  return name == "e" ? arena_.constant("e") : arena_.symbol(normal_name(name));
}

// Parses the bounds after a sign, such as _{k=1}^{n}. Empty groups count as absent.
bool Parser::bounds(const Expr*& lower, const Expr*& upper, std::string& variable) {
  while (is(Tok::kUnderscore) || is(Tok::kCaret)) {
    const bool below = is(Tok::kUnderscore);
    ++at_;
    if (is(Tok::kBraceOpen) && is(Tok::kBraceClose, 1)) {
      at_ += 2;
      continue;
    }
    const bool binds = below && is(Tok::kBraceOpen) && is(Tok::kSymbol, 1) && !is(Tok::kCaret, 2);
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

// Parses a sum or product with the bounds that are given.
const Expr* Parser::repeated(Fn fn) {
  const std::set<std::string, std::less<>> outer = bound_;
  const Expr* lower = nullptr;
  const Expr* upper = nullptr;
  std::string variable;
  if (!bounds(lower, upper, variable)) return nullptr;
  const Expr* body = product();
  bound_ = outer;
  if (body == nullptr) return fail("a sum of nothing");
  Expr out{.op = Op::kBinder, .fn = fn, .name = std::move(variable), .args = {body, lower, upper}};
  std::erase(out.args, nullptr);
  return arena_.make(std::move(out));
}

}  // namespace lie::latex
