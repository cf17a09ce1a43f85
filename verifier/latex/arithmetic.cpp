// Parses sums, products, juxtaposition and operations that are no products.
#include <algorithm>
#include <string>
#include <utility>

#include "verifier/latex/measures.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::latex {
namespace {

bool is_plain_number(const Expr* e) { return e != nullptr && e->op == Op::kNumber && !e->flag; }

bool is_numeric(const Expr& e) { return !has_names(e); }

bool is_capital(const Expr& e) {
  return e.op == Op::kSymbol && e.name.size() == 1 && e.name[0] >= 'A' && e.name[0] <= 'Z';
}

}  // namespace

bool may_be_matrix(const Expr& e) {
  if (e.has(expr::trait::kOrdered) || is_capital(e)) return true;
  return e.op == Op::kPow && may_be_matrix(*e.args[0]);
}

const Expr* unwrapped(const Expr* e) {
  while (e != nullptr && e->op == Op::kSet && e->args.size() == 1) e = e->args.front();
  return e;
}

const Expr* Parser::sum() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  const Expr* first = signed_product();
  std::vector<const Expr*> terms = {first};
  while (terms.back() != nullptr && !(terms.size() == 1 && parts_from_set(*first)) &&
         (is(Tok::kPlus) || is(Tok::kMinus) || is(Tok::kPlusMinus) || is(Tok::kMinusPlus))) {
    terms.push_back(signed_product());
  }
  if (terms.back() == nullptr) return nullptr;
  if (terms.size() == 1) return first;
  return added(std::move(terms), arena_);
}

// Parses a product and the plus-minus sign before it.
const Expr* Parser::signed_product() {
  if (!is(Tok::kPlusMinus) && !is(Tok::kMinusPlus)) return product();
  const bool minus_first = is(Tok::kMinusPlus);
  ++at_;
  const Expr* of = product();
  const bool measured = of != nullptr && of->op == Op::kUnit;
  const Expr* sign = arena_.make(
      {.op = Op::kPlusMinus, .flag = minus_first, .args = {measured ? of->args[0] : of}});
  return measured ? with_value(*of, sign, arena_) : sign;
}

const Expr* Parser::product() {
  const Expr* left = operand();
  for (const Expr* next = left; next != nullptr; next = product_step(left)) left = next;
  return error_.reason.empty() ? left : nullptr;
}

// Parses one more operator and operand after `left`. Returns nullptr if the product ends or
// fails.
const Expr* Parser::product_step(const Expr* left) {
  if (arena_.budget().exhausted()) return nullptr;
  const Token& sign = tok();
  if (sign.kind == Tok::kColon && !colon_is_ratio_) return nullptr;
  const bool composes = sign.kind == Tok::kDegree && at_composition(*left);
  if (!composes &&
      !is_one_of(sign.kind, Tok::kTimes, Tok::kDivide, Tok::kMod, Tok::kColon, Tok::kOperation))
    return nullptr;
  const std::size_t at = at_++;
  if (sign.kind == Tok::kDivide && is_plain_number(left) && is(Tok::kNumber) && !tok(0).decimal) {
    // In 1/2 x the two numbers are a fraction before anything is multiplied.
    const Expr* quotient = arena_.divide(left, power_or_postfix());
    const bool unit = is(Tok::kText) || is(Tok::kSymbol) || is(Tok::kWord);
    if (const Expr* quantity = unit ? unit_after(quotient) : nullptr) return quantity;
    if (!error_.reason.empty() || !starts_operand()) return quotient;
    return arena_.mul({quotient, implicit_run()});
  }
  if (sign.kind == Tok::kDivide && left->op == Op::kUnit && (is(Tok::kText) || is(Tok::kWord))) {
    // In \$5/\text{hr} the word belongs to the unit.
    const std::string_view unit = tok().name;
    ++at_;
    return measured(left, "per" + unit_name(unit), unit);
  }
  const Expr* right = operand();
  if (right == nullptr) return fail("nothing follows an operator");
  if (composes) return operation("∘", left, right);
  if (sign.kind == Tok::kOperation) return operation(sign.name, left, right);
  if (sign.kind == Tok::kTimes && is_cross(at, *left, *right)) return operation("×", left, right);
  if (sign.kind == Tok::kTimes) return product_of({left, right});
  if (sign.kind == Tok::kDivide) return divided(left, right, true, arena_);
  if (sign.kind == Tok::kMod) return arena_.call(Fn::kMod, {left, right});
  std::vector<const Expr*> parts =
      left->op == Op::kRatio ? left->args : std::vector<const Expr*>{left};
  // In 8:34 p.m. the unit belongs to the whole ratio.
  const bool unit = right->op == Op::kUnit;
  parts.push_back(unit ? right->args[0] : right);
  const Expr* ratio = arena_.node(Op::kRatio, std::move(parts));
  return unit ? arena_.make({.op = Op::kUnit, .name = right->name, .args = {ratio}}) : ratio;
}

const Expr* Parser::operand() {
  bool negative = false;
  while (is(Tok::kPlus) || is(Tok::kMinus)) {
    negative = negative != is(Tok::kMinus);
    ++at_;
    if (!enter()) return nullptr;
  }
  const Expr* run = implicit_run();
  return negative ? negated(run, arena_) : run;
}

// Parses factors side by side: 2 x y, 3 \sqrt 2, (a)(b), 5 cm.
const Expr* Parser::implicit_run() {
  std::vector<const Expr*> factors;
  const bool quotient = is(Tok::kSymbol) && is(Tok::kDivide, 2);
  const Expr* first = quotient ? inline_derivative() : nullptr;
  if (first == nullptr) first = power_or_postfix();
  if (first == nullptr) return nullptr;
  factors.push_back(first);
  bool numeric = is_numeric(*first);
  while (true) {
    const bool unit =
        is(Tok::kText) || at_bracketed_unit() || (numeric && (is(Tok::kSymbol) || is(Tok::kWord)));
    const bool second =
        factors.size() == 2 && factors[0]->op == Op::kUnit && is_numeric(*factors[1]);
    const Expr* measured = second ? factors[1] : arena_.mul(factors);
    if (const Expr* with_unit = unit ? unit_after(measured) : nullptr) {
      factors = {second ? quantity_sum(*factors[0], *with_unit) : with_unit};
      if (factors[0] == nullptr) return nullptr;
      continue;
    }
    if (!error_.reason.empty()) return nullptr;
    if (const Expr* number = numeric && is_symbol("angle") ? polar(arena_.mul(factors)) : nullptr)
      return number;
    if (!starts_operand()) break;
    if (is(Tok::kNumber) && lexed_.tokens[at_ - 1].kind == Tok::kNumber)
      return fail("two numbers side by side");
    const Expr* next = power_or_postfix();
    if (next == nullptr) return nullptr;
    factors.push_back(next);
    numeric = numeric && is_numeric(*next);
  }
  if (factors.size() == 1) return factors.front();
  for (const Expr*& factor : factors) factor = unwrapped(factor);
  return product_of(std::move(factors));
}

// Returns whether a degree sign after a name composes functions, as in f \circ g.
bool Parser::at_composition(const Expr& left) const {
  return is(Tok::kDegree) && has_names(left) &&
         is_one_of(tok(1).kind, Tok::kSymbol, Tok::kOpen, Tok::kFunction, Tok::kAccent, Tok::kWord,
                   Tok::kBraceOpen, Tok::kOperatorName);
}

const Expr* Parser::operation(std::string_view sign, const Expr* left, const Expr* right) {
  return arena_.make({.op = Op::kApply, .name = std::string(sign), .args = {left, right}});
}

// Returns whether the sign at a token is that of the product of vectors or sets. A \times B alone
// may be one of sets.
bool Parser::is_cross(std::size_t at, const Expr& left, const Expr& right) const {
  const std::string_view sign = source(at, at + 1);
  if (sign != "\\times" && sign != "×") return false;
  const auto is_set = [](const Expr& e) {
    return is_one_of(e.op, Op::kNamedSet, Op::kSet, Op::kTuple, Op::kUnion);
  };
  if (is_set(left) && is_set(right)) return true;
  if (left.has(expr::trait::kVector) && right.has(expr::trait::kVector)) return true;
  return is_capital(left) && is_capital(right) && at == element_first_ + 1 && ends_element(0);
}

// Multiplies factors. Matrices keep their order.
const Expr* Parser::product_of(std::vector<const Expr*> factors) {
  const auto ordered = [](const Expr* e) { return e != nullptr && e->has(expr::trait::kOrdered); };
  if (std::ranges::none_of(factors, ordered)) return multiplied(std::move(factors), arena_);
  Expr matrices{.op = Op::kApply, .name = "·"};
  std::vector<const Expr*> numbers;
  const auto sort_in = [&](const Expr* factor) {
    if (factor->op == Op::kApply && factor->name == "·")
      matrices.args.insert(matrices.args.end(), factor->args.begin(), factor->args.end());
    else
      (may_be_matrix(*factor) ? matrices.args : numbers).push_back(factor);
  };
  for (const Expr* factor : factors) {
    if (factor == nullptr) return nullptr;
    if (factor->op == Op::kMul)
      std::ranges::for_each(factor->args, sort_in);
    else
      sort_in(factor);
  }
  if (matrices.args.size() < 2) return arena_.mul(std::move(factors));
  numbers.push_back(arena_.make(std::move(matrices)));
  return arena_.mul(std::move(numbers));
}

bool Parser::starts_bar_operand() const {
  if (in_set_ && open_bars_ == 0) return false;
  if (open_bars_ == 0) return true;
  if (!bars_nest_) return false;
  return is(Tok::kNumber, 1) || is(Tok::kSymbol, 1) || is(Tok::kConstant, 1) ||
         is(Tok::kFunction, 1);
}

bool Parser::starts_operand() const {
  const Tok kind = tok().kind;
  if (kind == Tok::kOpen) return !at_bracketed_modulus();
  if (kind == Tok::kText) return names_function(tok().name);
  if (kind == Tok::kBar || kind == Tok::kDoubleBar) return starts_bar_operand();
  return is_one_of(kind, Tok::kNumber, Tok::kSymbol, Tok::kWord, Tok::kConstant, Tok::kFunction,
                   Tok::kNamedSet, Tok::kBraceOpen, Tok::kFrac, Tok::kSqrt, Tok::kBinom,
                   Tok::kBoxed, Tok::kAccent, Tok::kOperatorName, Tok::kSum, Tok::kProd,
                   Tok::kBegin, Tok::kDots, Tok::kCurrency);
}

}  // namespace lie::latex
