#include "verifier/equal/copied.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/text/scan.h"
#include "verifier/equal/comparer.h"
#include "verifier/latex/text.h"

namespace lie::equal {
namespace {

// Prints a tree with the terms and factors of each sum and product in sorted order.
std::string sorted_text(const Expr& e) {
  if (!is_one_of(e.op, Op::kAdd, Op::kMul)) {
    if (e.args.empty()) return to_text(e);
    Expr head = e;
    head.args.clear();
    std::string out = to_text(head);
    for (const Expr* arg : e.args) out.append(" ").append(sorted_text(*arg));
    return out;
  }
  std::vector<std::string> parts;
  for (const Expr* arg : e.args) parts.push_back(sorted_text(*arg));
  std::ranges::sort(parts);
  std::string out = e.op == Op::kAdd ? "(+" : "(*";
  for (const std::string& part : parts) out.append(" ").append(part);
  return out + ")";
}

bool is_atom(const Expr& e) {
  return is_one_of(e.op, Op::kNumber, Op::kSymbol, Op::kConstant, Op::kText, Op::kNamedSet);
}

// Returns whether an expression is a number, a name, a root of a number, or a power of a name.
// These have nothing to carry out.
bool is_plain_power(const Expr& e) {
  if (e.op == Op::kFunction)
    return e.fn == expr::Fn::kRoot && is_one_of(e.args[0]->op, Op::kNumber, Op::kSymbol);
  if (e.op != Op::kPow || e.args[1]->op != Op::kNumber) return is_atom(e);
  const bool number = e.args[0]->op == Op::kNumber;
  const exact::Rational& exponent = e.args[1]->value;
  if (number && exponent.is_integer()) return exponent == exact::Rational(-1);
  return is_atom(*e.args[0]);
}

// Returns whether a product is a monomial or fraction such as 2\pi, \frac{1}{2} or
// \frac{\sqrt3}{2}.
bool is_plain_product(const Expr& e) {
  const auto numbers = std::ranges::count(e.args, Op::kNumber, &Expr::op);
  return numbers <= 2 &&
         std::ranges::all_of(e.args, [](const Expr* arg) { return is_plain_power(*arg); });
}

bool has_work(const Expr& e) {
  switch (e.op) {
    case Op::kMul: return !is_plain_product(e);
    case Op::kPow: return !is_plain_power(e);
    case Op::kFunction: return !is_plain_power(e);
    case Op::kRelation:
      if (is_inequality(e)) return !is_solved(e);
      return !(e.args.size() == 2 && is_atom(*e.args[0]) && !has_work(*e.args[1]));
    case Op::kAdd:
    case Op::kApply:
    case Op::kBinder:
    case Op::kBased:
    case Op::kSetBuilder: return true;
    default: return any_arg(e, has_work);
  }
}

// Returns whether the prompt has the text, outside of longer words and numbers.
bool holds(std::string_view prompt, std::string_view text) {
  for (std::size_t at = prompt.find(text); at != std::string_view::npos;
       at = prompt.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    const bool begins =
        at == 0 || !is_letter_or_digit(prompt[at - 1]) || !is_letter_or_digit(text.front());
    const bool ends = end == prompt.size() || !is_letter_or_digit(prompt[end]) ||
                      !is_letter_or_digit(text.back());
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

bool is_copied(const Written& gold, const Written& answer, std::string_view prompt) {
  if (answer.tree == nullptr || !has_work(*answer.tree)) return false;
  const std::string text = latex::without_spacing(answer.text);
  if (text.empty() || text == latex::without_spacing(gold.text)) return false;
  if (!holds(latex::without_spacing(prompt), text)) return false;
  return gold.tree == nullptr || sorted_text(*gold.tree) != sorted_text(*answer.tree);
}

}  // namespace lie::equal
