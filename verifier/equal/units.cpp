#include "verifier/equal/units.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/scan.h"
#include "verifier/equal/comparer.h"
#include "verifier/latex/measures.h"
#include "verifier/latex/remarks.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::equal {
namespace {

using exact::Rational, latex::Base, latex::Unit, latex::unit_ratio, scalar::equal_scalars;

bool is_unit_of(const Expr& e, Base base, Base other) {
  const std::optional<Unit> unit =
      e.op == Op::kUnit ? latex::read_unit(latex::normal_text(e.name)) : std::nullopt;
  return unit && (unit->is(base) || unit->is(other));
}

// Returns whether a ratio is a time such as 8:30 p.m.
bool is_time(const Expr& e, const Expr& bare) {
  return bare.op == Op::kRatio && is_unit_of(e, Base::kForenoon, Base::kAfternoon);
}

// A unit to a power, such as s^2 or (s^2)^{-1}. The name is empty for anything else.
struct UnitPower {
  std::string name;
  std::int64_t power = 1;
};

UnitPower unit_power(const Expr& e) {
  if (e.op == Op::kPow && e.args[1]->op == Op::kNumber) {
    UnitPower out = unit_power(*e.args[0]);
    out.power *= e.args[1]->value.small_integer().value_or(100);
    return std::abs(out.power) < 10 ? out : UnitPower{};
  }
  const bool known = is_one_of(e.op, Op::kSymbol, Op::kText) && latex::read_unit(e.name);
  return {known ? e.name : std::string()};
}

// Returns the product 3 m or 3 \frac{m}{s} as a quantity, if its last factors are a unit of the
// same dimension as `unit`. Returns any other expression as it is, and nullptr if the arena is
// full.
const Expr* as_quantity(const Expr* e, std::string_view unit, Arena& arena) {
  const std::optional<latex::Unit> wanted = latex::read_unit(unit);
  if (!wanted || e->op != Op::kMul) return e;
  std::string name;
  for (std::size_t first = e->args.size() - 1; first > 0; --first) {
    UnitPower here = unit_power(*e->args[first]);
    // The prefixes of \mu m and k\Omega are letters of their own.
    const Expr& before = *e->args[first - 1];
    const bool prefix =
        first > 1 && before.op == Op::kSymbol &&
        (before.name == "mu" || (here.name == "Omega" && is_one_of(before.name, "k", "M", "m")));
    if (prefix && !here.name.empty() && latex::read_unit(before.name + here.name)) {
      here.name = before.name + here.name;
      --first;
    }
    if (here.name.empty()) return e;
    name = here.name + "^" + std::to_string(here.power) + (name.empty() ? "" : "*" + name);
    const std::optional<latex::Unit> found = latex::read_unit(name);
    if (!found || found->powers != wanted->powers) continue;
    const auto end = e->args.begin() + static_cast<std::ptrdiff_t>(first);
    return arena.make({.op = Op::kUnit, .name = name, .args = {arena.mul({e->args.begin(), end})}});
  }
  return e;
}

// Collects the outermost quantities of an expression.
void collect_quantities(const Expr& e, std::vector<const Expr*>& out) {
  if (!e.has(expr::trait::kUnit)) return;
  if (e.op == Op::kUnit) return out.push_back(&e);
  for (const Expr* arg : e.args) collect_quantities(*arg, out);
}

// Returns whether a remark stands after a known unit, as in 5\text{ cm}\text{ tall}.
bool is_described(const Expr& e) { return e.op == Op::kUnit && e.args[0]->op == Op::kUnit; }

}  // namespace

bool units_inside_agree(const Expr& gold, const Expr& answer) {
  if (!gold.has(expr::trait::kUnit) && !answer.has(expr::trait::kUnit)) return true;
  std::vector<const Expr*> all;
  collect_quantities(gold, all);
  const std::size_t of_gold = all.size();
  collect_quantities(answer, all);
  const bool one_side = of_gold == 0 || of_gold == all.size();
  return std::ranges::all_of(all, [&](const Expr* quantity) {
    if (quantity->flag) return !one_side && quantity->name == all[0]->name && all[0]->flag;
    return unit_ratio(all[0]->name, quantity->name) == Rational(1);
  });
}

const Expr* joined_quantities(const Expr& list, Arena& arena) {
  const auto measured = [](const Expr* e) {
    return e->op == Op::kUnit && e->args[0]->op == Op::kNumber;
  };
  if (list.open != '&' || list.args.size() != 2 || !std::ranges::all_of(list.args, measured))
    return nullptr;
  const Expr &whole = *list.args[0], &part = *list.args[1];
  const std::optional<Unit> a = latex::read_unit(whole.name), b = latex::read_unit(part.name);
  const bool fits = a && b && a->powers == b->powers && whole.args[0]->value.is_integer() &&
                    part.args[0]->value * b->factor < a->factor;
  return fits ? latex::added(list.args, arena) : nullptr;
}

Tri Comparer::units(const Expr* gold, const Expr* answer) {
  if (gold->op != Op::kUnit) gold = as_quantity(gold, answer->name, arena_);
  if (answer->op != Op::kUnit) answer = as_quantity(answer, gold->name, arena_);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  const bool two = gold->op == Op::kUnit && answer->op == Op::kUnit;
  if (!two && (!options_.drop_units || !units_inside_agree(*gold, *answer))) return Tri::kNo;
  const auto changes = [](const Expr* e) { return e->op == Op::kUnit && e->flag; };
  // The answer "5 or 7" is neither 5 nor "5 or 8".
  if ((changes(gold) || changes(answer)) && !(two && lowered(gold->name) == lowered(answer->name)))
    return Tri::kNo;
  return is_described(*gold) || is_described(*answer) ? described(gold, answer)
                                                      : quantities(gold, answer);
}

// Compares quantities of which at least one has a remark after its unit.
Tri Comparer::described(const Expr* gold, const Expr* answer) {
  const bool here = is_described(*gold), there = is_described(*answer);
  const Expr& remark = here ? *gold : *answer;
  const Expr& other = here ? *answer : *gold;
  const bool words = (here && there) || (other.op == Op::kUnit && !latex::read_unit(other.name));
  if (words && !latex::words_agree(remark.name, other.name)) return Tri::kNo;
  // The sign \$ does not say what is paid for.
  if (!words && other.op == Op::kUnit && other.name != "$" && remark.name.starts_with("per"))
    return Tri::kNo;
  if (here) gold = gold->args[0];
  if (there) answer = answer->args[0];
  // The words "5 tall" lack the unit of "5 cm tall".
  if (words && here != there) return equal(gold->args[0], answer->args[0]);
  return equal(gold, answer);
}

Tri Comparer::quantities(const Expr* gold, const Expr* answer) {
  const Expr* a = gold->op == Op::kUnit ? gold->args[0] : gold;
  const Expr* b = answer->op == Op::kUnit ? answer->args[0] : answer;
  if (gold->op == Op::kUnit && answer->op == Op::kUnit) {
    const std::optional<Rational> ratio = unit_ratio(gold->name, answer->name);
    if (!ratio) return Tri::kNo;
    if (!(*ratio == Rational(1))) b = arena_.mul({arena_.number(*ratio), b});
    if (b == nullptr) return Tri::kUnknown;
  }
  if (is_time(*gold, *a) || is_time(*answer, *b)) return structures(a, b);
  const bool degrees = a->op == Op::kDegree || b->op == Op::kDegree;
  if (degrees && (is_unit_of(*gold, Base::kRadian, Base::kRadian) ||
                  is_unit_of(*answer, Base::kRadian, Base::kRadian)))
    return equal_scalars(*a, *b, options_, arena_.budget());
  return equal(a, b);
}

}  // namespace lie::equal
