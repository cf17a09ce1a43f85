#include "verifier/latex/measures.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/text/scan.h"
#include "verifier/latex/remarks.h"
#include "verifier/latex/units.h"

namespace lie::latex {
namespace {

using expr::Arena, expr::Expr, expr::Op;

bool is_quantity(const Expr* e) { return e != nullptr && e->op == Op::kUnit; }

const Expr* quantity(std::string unit, const Expr* value, Arena& arena) {
  return arena.make({.op = Op::kUnit, .name = std::move(unit), .args = {value}});
}

// Returns the value of a term in the unit of a quantity, or nullptr if it measures something else.
const Expr* value_in(const Expr& quantity, const Expr& term, Arena& arena) {
  const std::optional<exact::Rational> ratio = unit_ratio(quantity.name, term.name);
  if (!ratio || term.flag) return nullptr;
  if (*ratio == exact::Rational(1)) return term.args[0];
  return arena.mul({arena.number(*ratio), term.args[0]});
}

// Returns whether a unit divides: what follows a slash is below it.
bool divides(std::string_view unit) {
  return unit.find('/') != unit.npos || unit.find("per") != unit.npos;
}

// Returns the name of a product of two units or of two words, or nothing if it has none.
std::optional<std::string> product_of_units(const std::string& a, const std::string& b) {
  if (!read_unit(a) && !read_unit(b)) return a + b;
  if (divides(a) && divides(b)) return std::nullopt;
  std::string product = divides(a) ? b + "*" + a : a + "*" + b;
  return read_unit(product) ? std::optional(std::move(product)) : std::nullopt;
}

}  // namespace

const Expr* with_value(const Expr& quantity, const Expr* value, Arena& arena) {
  return arena.make(
      {.op = Op::kUnit, .flag = quantity.flag, .name = quantity.name, .args = {value}});
}

const Expr* negated(const Expr* e, Arena& arena) {
  if (e != nullptr && e->op == Op::kPercent)
    return arena.node(Op::kPercent, {arena.negate(e->args[0])});
  if (!is_quantity(e) || e->args[0]->op == Op::kCode) return arena.negate(e);
  return with_value(*e, negated(e->args[0], arena), arena);
}

const Expr* added(std::vector<const Expr*> terms, Arena& arena) {
  const Expr* last = terms.back();
  const auto measured = std::ranges::count_if(terms, is_quantity);
  const bool all = std::cmp_equal(measured, terms.size());
  if (!is_quantity(last) || (measured > 1 && !all)) return arena.add(std::move(terms));
  std::vector<const Expr*> values;
  for (const Expr* term : terms) {
    const bool bare = term == last || term->op != Op::kUnit;
    values.push_back(term == last ? last->args[0] : bare ? term : value_in(*last, *term, arena));
    if (values.back() == nullptr) return arena.add(std::move(terms));
  }
  return with_value(*last, arena.add(std::move(values)), arena);
}

const Expr* multiplied(std::vector<const Expr*> factors, Arena& arena) {
  const Expr* first = nullptr;
  std::string unit;
  for (const Expr* factor : factors) {
    if (!is_quantity(factor)) continue;
    if (first != nullptr && (first->flag || factor->flag)) return arena.mul(std::move(factors));
    const std::optional<std::string> product =
        first == nullptr ? factor->name : product_of_units(unit, factor->name);
    if (!product) return arena.mul(std::move(factors));
    unit = *product;
    first = first == nullptr ? factor : first;
  }
  if (first == nullptr) return arena.mul(std::move(factors));
  for (const Expr*& factor : factors)
    if (is_quantity(factor)) factor = factor->args[0];
  const Expr* value = arena.mul(std::move(factors));
  return unit == first->name ? with_value(*first, value, arena)
                             : quantity(std::move(unit), value, arena);
}

const Expr* divided(const Expr* a, const Expr* b, bool in_line, Arena& arena) {
  if (!is_quantity(a) && !(is_quantity(b) && in_line)) return arena.divide(a, b);
  if (!is_quantity(b)) return with_value(*a, arena.divide(a->args[0], b), arena);
  if (!is_quantity(a)) return with_value(*b, arena.divide(a, b->args[0]), arena);
  const std::optional<Unit> top = read_unit(a->name), bottom = read_unit(b->name);
  const Expr* value = arena.divide(a->args[0], b->args[0]);
  const bool words = !top && !bottom && !a->flag && !b->flag;
  if (words && a->name != b->name) return quantity(a->name + "/" + b->name, value, arena);
  if (!top || !bottom) return arena.divide(a, b);
  if (top->powers == bottom->powers)
    return arena.mul({arena.number(top->factor / bottom->factor), value});
  std::string unit = a->name + "/" + b->name;
  const bool one_factor = std::ranges::all_of(b->name, is_letter);
  return one_factor && read_unit(unit) ? quantity(std::move(unit), value, arena)
                                       : arena.divide(a, b);
}

const Expr* to_power(const Expr* base, const Expr* exponent, Arena& arena) {
  const bool whole = exponent != nullptr && exponent->op == Op::kNumber;
  if (!is_quantity(base) || !whole || !std::ranges::all_of(base->name, is_letter))
    return arena.power(base, exponent);
  std::string unit = base->name + "^" + exponent->value.text();
  if (!read_unit(unit)) return arena.power(base, exponent);
  return quantity(std::move(unit), arena.power(base->args[0], exponent), arena);
}

}  // namespace lie::latex
