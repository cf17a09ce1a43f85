#include "verifier/equal/copied.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/text/scan.h"
#include "verifier/equal/comparer.h"
#include "verifier/equal/kind.h"
#include "verifier/latex/text.h"

namespace lie::equal {
namespace {

std::string sorted(std::string text) {
  std::ranges::sort(text);
  return text;
}

bool is_atom(const Expr& e) {
  return is_one_of(e.op, Op::kNumber, Op::kSymbol, Op::kConstant, Op::kText, Op::kNamedSet);
}

// Returns whether a radicand is a fraction, or a small k^degree divides it, as in \sqrt{242}.
bool has_power_factor(const Expr& radicand, std::int64_t degree) {
  constexpr std::int64_t kLargest = 1000;
  if (radicand.op == Op::kNumber && !radicand.value.is_integer()) return true;
  const auto n = radicand.op == Op::kNumber ? radicand.value.small_integer() : std::nullopt;
  if (!n || degree < 2 || degree > 6) return false;
  for (std::int64_t k = 2; k <= kLargest; ++k) {
    std::int64_t power = k;
    for (std::int64_t i = 1; i < degree && power <= std::abs(*n); ++i) power *= k;
    if (power > std::abs(*n)) return false;
    if (*n % power == 0) return true;
  }
  return false;
}

// Returns whether an expression is a number, a name, a power of a name other than i, or a root of a
// number that cannot be simplified. None of these has an operation left to carry out.
bool is_plain_power(const Expr& e) {
  if (e.op != Op::kPow || e.args[1]->op != Op::kNumber) return is_atom(e);
  if (!is_atom(*e.args[0])) return false;
  if (e.args[0]->op != Op::kNumber) return e.args[0]->name != "i";
  const exact::Rational& exponent = e.args[1]->value;
  if (exponent.is_integer()) return exponent == exact::Rational(-1);
  return !has_power_factor(*e.args[0], fmpz_get_si(exponent.denominator()));
}

// Returns whether a product is a monomial or a fraction in lowest terms, such as 2\pi, \frac{1}{2}
// or \frac{\sqrt3}{2}.
bool is_plain_product(const Expr& e) {
  int above = 0, below = 0, roots = 0;
  exact::Rational quotient(1), bottom(1);
  for (const Expr* arg : e.args) {
    if (!is_plain_power(*arg)) return false;
    const bool inverse = arg->op == Op::kPow && arg->args[0]->op == Op::kNumber &&
                         arg->args[1]->value == exact::Rational(-1);
    if (!inverse && arg->args.size() == 2 && arg->args[0]->op == Op::kNumber) ++roots;
    if (arg->op == Op::kNumber) ++above, quotient = quotient * arg->value;
    if (inverse) ++below, bottom = bottom * arg->args[0]->value;
  }
  if (above > 1 || below > 1 || roots > 1 || bottom.is_zero()) return false;
  if (below == 0) return true;
  if (!quotient.is_integer() || !bottom.is_integer()) return false;
  exact::Rational reduced = quotient / bottom;
  return fmpz_cmpabs(reduced.denominator(), bottom.numerator()) == 0;
}

bool has_work(const Expr& e) {
  switch (e.op) {
    case Op::kMul: return !is_plain_product(e);
    case Op::kPow: return !is_plain_power(e);
    case Op::kFunction: return !is_plain_power(e);
    case Op::kRelation:
      if (is_inequality(e) && e.relations[0] != expr::Rel::kEquivalent) return !is_solved(e);
      return !(e.args.size() == 2 && is_atom(*e.args[0]) && !has_work(*e.args[1]));
    case Op::kAdd:
    case Op::kApply:
    case Op::kBinder:
    case Op::kBased:
    case Op::kSetBuilder: return true;
    default: return any_arg(e, has_work);
  }
}

// Returns whether the prompt has the text, outside of longer numbers. Spaces have been removed, so
// letters next to it may belong to another word.
bool holds(std::string_view prompt, std::string_view text) {
  for (std::size_t at = prompt.find(text); at != std::string_view::npos;
       at = prompt.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    const bool begins = at == 0 || !is_digit(prompt[at - 1]) || !is_digit(text.front());
    const bool ends = end == prompt.size() || !is_digit(prompt[end]) || !is_digit(text.back());
    if (begins && ends) return true;
  }
  return false;
}

std::string digits(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (is_digit(c)) out.push_back(c);
  return sorted(std::move(out));
}

bool has_other_forms(const Expr& e) {
  return e.op != Op::kRelation && !(e.op == Op::kNumber && e.value.is_integer());
}

// Returns whether the prompt asks for another form of a formula: "Convert $\\frac92$ to a decimal".
bool asks_to_convert(std::string_view prompt, std::string_view answer) {
  constexpr std::array<std::string_view, 6> kVerbs = {"onvert",   "xpress", "rite",
                                                      "equal to", "equals", "equivalent"};
  const auto has = [prompt](std::string_view word) { return prompt.find(word) != prompt.npos; };
  return std::ranges::any_of(kVerbs, has) && has("$" + std::string(trimmed(answer)) + "$");
}

}  // namespace

bool is_copied(std::string_view gold, std::string_view answer, const Expr* tree,
               std::string_view prompt) {
  if (tree == nullptr) return false;
  const std::string text = latex::without_spacing(answer), wanted = latex::without_spacing(gold);
  if (!has_work(*tree))
    return has_other_forms(*tree) && asks_to_convert(prompt, answer) &&
           digits(text) != digits(wanted);
  if (text.empty() || !holds(latex::without_spacing(prompt), text)) return false;
  // Equal answers of the same letters differ in the order of their terms only.
  if (tree->op == Op::kRelation && !is_atom(*tree->args[0])) return text != wanted;
  return sorted(text) != sorted(wanted);
}

}  // namespace lie::equal
