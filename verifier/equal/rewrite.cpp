#include "verifier/equal/rewrite.h"

#include <algorithm>
#include <optional>
#include <string>

#include "verifier/equal/parts.h"
#include "verifier/expr/substitute.h"
#include "verifier/latex/units.h"
#include "verifier/scalar/rational_value.h"

namespace lie::equal {
namespace {

using expr::Arena, expr::Expr, expr::Fn, expr::Op, expr::Rel, scalar::folded;

constexpr int kMostSigns = 4;

struct Signs {
  int count = 0;
  bool opposite = false;  // a -+ occurs
};

void count_signs(const Expr& e, Signs& out) {
  if (!e.has(expr::trait::kSign)) return;
  if (e.op == Op::kPlusMinus) {
    ++out.count;
    out.opposite = out.opposite || e.flag;
  }
  for (const Expr* arg : e.args) count_signs(*arg, out);
}

// Chooses the signs by the bits of `choice` in order of appearance, or all by the first bit if
// `linked`.
const Expr* choose_signs(const Expr* e, unsigned choice, bool linked, unsigned& next,
                         Arena& arena) {
  if (!e->has(expr::trait::kSign)) return e;
  if (e->op == Op::kPlusMinus) {
    const unsigned bit = linked ? 0 : next++;
    const bool minus = (((choice >> bit) & 1) != 0) != e->flag;
    const Expr* inner = choose_signs(e->args[0], choice, linked, next, arena);
    return inner != nullptr && minus ? arena.negate(inner) : inner;
  }
  return map_args(e, arena,
                  [&](const Expr* arg) { return choose_signs(arg, choice, linked, next, arena); });
}

// --- matrices --------------------------------------------------------------------------------

bool has_structure(const Expr& e) { return e.has(expr::trait::kMatrix); }

const Expr* make_matrix(std::vector<const Expr*> cells, std::int32_t columns, Arena& arena) {
  return arena.make({.op = Op::kMatrix, .columns = columns, .args = std::move(cells)});
}

const Expr* add_matrices(const Expr& e, Arena& arena) {
  const Expr* first = e.args.front();
  std::vector<const Expr*> cells = first->args;
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    const Expr* next = e.args[i];
    if (next->op != Op::kMatrix || next->args.size() != cells.size() ||
        next->columns != first->columns)
      return &e;
    for (std::size_t k = 0; k < cells.size(); ++k)
      cells[k] = folded(arena.add({cells[k], next->args[k]}), arena);
  }
  return make_matrix(std::move(cells), first->columns, arena);
}

const Expr* times(const Expr* a, const Expr* b, Arena& arena) {
  const auto inner = static_cast<std::size_t>(a->columns);
  const auto columns = static_cast<std::size_t>(b->columns);
  if (inner * columns != b->args.size()) return nullptr;
  std::vector<const Expr*> cells;
  for (std::size_t row = 0; row * inner < a->args.size(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::vector<const Expr*> terms;
      for (std::size_t k = 0; k < inner; ++k)
        terms.push_back(arena.mul({a->args[row * inner + k], b->args[k * columns + column]}));
      cells.push_back(folded(arena.add(std::move(terms)), arena));
    }
  }
  return make_matrix(std::move(cells), b->columns, arena);
}

const Expr* multiply_matrices(const Expr& e, Arena& arena) {
  const Expr* matrix = nullptr;
  std::vector<const Expr*> factors;
  for (const Expr* arg : e.args) {
    if (arg->op != Op::kMatrix) {
      factors.push_back(arg);
    } else {
      matrix = matrix == nullptr ? arg : times(matrix, arg, arena);
      if (matrix == nullptr) return &e;
    }
  }
  if (matrix == nullptr || factors.empty()) return matrix == nullptr ? &e : matrix;
  const Expr* factor = arena.mul(std::move(factors));
  std::vector<const Expr*> cells;
  for (const Expr* cell : matrix->args) cells.push_back(arena.mul({factor, cell}));
  return make_matrix(std::move(cells), matrix->columns, arena);
}

const Expr* evaluate_one(const Expr* e, Arena& arena) {
  if (e == nullptr || e->args.empty()) return e;
  const bool first = e->args.front()->op == Op::kMatrix;
  if (e->op == Op::kAdd && first) return add_matrices(*e, arena);
  if (e->op == Op::kMul) return multiply_matrices(*e, arena);
  return e;
}

}  // namespace

std::vector<const Expr*> expand_signs(const Expr* e, Arena& arena) {
  if (e == nullptr) return {};
  Signs signs;
  count_signs(*e, signs);
  if (signs.count == 0) return {e};
  const bool linked = signs.opposite || signs.count > kMostSigns;
  const unsigned choices = linked ? 2 : 1U << static_cast<unsigned>(signs.count);
  std::vector<const Expr*> out;
  for (unsigned choice = 0; choice < choices; ++choice) {
    unsigned next = 0;
    out.push_back(choose_signs(e, choice, linked, next, arena));
    if (out.back() == nullptr) return {};
  }
  return out;
}

const Expr* evaluate_structures(const Expr* e, Arena& arena) {
  if (e == nullptr || !has_structure(*e)) return e;
  return evaluate_one(
      map_args(e, arena, [&](const Expr* arg) { return evaluate_structures(arg, arena); }), arena);
}

bool is_name(const Expr& e) {
  const auto all_names = [&] {
    return std::ranges::all_of(e.args, [](const Expr* arg) { return is_name(*arg); });
  };
  if (e.op == Op::kConstant) return e.name == "e" || e.name == "i";
  if (e.op == Op::kPow)
    return is_name(*e.args[0]) && e.args[1]->op == Op::kNumber &&
           e.args[1]->value == exact::Rational(-1);
  if (e.op == Op::kFunction)
    return is_one_of(e.fn, Fn::kAbs, Fn::kDet, Fn::kNorm, Fn::kMin, Fn::kMax, Fn::kGcd, Fn::kLcm) &&
           all_names();
  if (is_one_of(e.op, Op::kSymbol, Op::kText, Op::kApply)) return true;
  return is_one_of(e.op, Op::kMul, Op::kAdd, Op::kRatio, Op::kTuple, Op::kRelation, Op::kUnit,
                   Op::kList) &&
         all_names();
}

bool is_assignment(const Expr& e) {
  return e.op == Op::kRelation && e.args.size() == 2 &&
         (e.relations[0] == Rel::kEqual || e.relations[0] == Rel::kIn) && is_name(*e.args[0]);
}

namespace {

bool is_equation_chain(const Expr& e) {
  return e.op == Op::kRelation && std::ranges::all_of(e.relations, [](Rel rel) {
           return rel == Rel::kEqual || rel == Rel::kApprox || rel == Rel::kArrow;
         });
}

// Returns the last part that counts. Parts after the first approximation are dropped, unless
// nothing else is left.
std::size_t last_exact(const Expr& e) {
  const bool named = is_name(*e.args[0]);
  std::size_t last = 0;
  while (last < e.relations.size() && (e.relations[last] == Rel::kEqual || (last == 0 && named)))
    ++last;
  return last;
}

}  // namespace

const Expr* shorten_chain(const Expr* e, Arena& arena, const VerifierOptions& options) {
  if (e == nullptr || !options.last_of_chain || !is_equation_chain(*e)) return e;
  const std::size_t last = last_exact(*e);
  if (last == 0) return e->relations[0] == Rel::kApprox ? e->args[0] : e;
  if (last == 1 && e->relations.size() == 1 && e->relations[0] == Rel::kEqual) return e;
  if (e->relations[0] == Rel::kArrow) return e;
  return arena.make(
      {.op = Op::kRelation, .args = {e->args[0], e->args[last]}, .relations = {Rel::kEqual}});
}

const Expr* dropped_approximation(const Expr& e, const VerifierOptions& options) {
  if (!options.last_of_chain || !is_equation_chain(e)) return nullptr;
  const std::size_t last = last_exact(e);
  return last < e.relations.size() && e.relations[last] == Rel::kApprox ? e.args[last + 1]
                                                                        : nullptr;
}

const Expr* unwrap(const Expr* e) {
  while (e != nullptr && (e->op == Op::kSet || e->op == Op::kTuple || e->op == Op::kList) &&
         e->args.size() == 1 && e->args.front()->op != Op::kNamedSet)
    e = e->args.front();
  return e;
}

const Expr* sorted_by_names(const Expr* list, Arena& arena) {
  const auto letter = [](const Expr* item) {
    return is_assignment(*item) && item->args[0]->op == Op::kSymbol &&
           item->args[0]->name.size() == 1;
  };
  if (list->op != Op::kList || !std::ranges::all_of(list->args, letter)) return list;
  std::vector<const Expr*> items = list->args;
  std::ranges::stable_sort(items, {}, [](const Expr* item) { return item->args[0]->name; });
  return arena.node(Op::kList, std::move(items));
}

bool has_degree_terms(const Expr& e) {
  return e.op == Op::kDegree ||
         (is_one_of(e.op, Op::kAdd, Op::kMul) && any_arg(e, has_degree_terms));
}

const Expr* without_degrees(const Expr* e, Arena& arena) {
  if (e->op == Op::kDegree) return e->args[0];
  if (!is_one_of(e->op, Op::kAdd, Op::kMul)) return e;
  return map_args(e, arena, [&](const Expr* arg) { return without_degrees(arg, arena); });
}

namespace {

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

}  // namespace

const Expr* as_quantity(const Expr* e, std::string_view unit, Arena& arena) {
  const std::optional<latex::Unit> wanted = latex::read_unit(unit);
  if (!wanted || e->op != Op::kMul) return e;
  std::string name;
  for (std::size_t first = e->args.size() - 1; first > 0; --first) {
    const UnitPower here = unit_power(*e->args[first]);
    if (here.name.empty()) return e;
    name = here.name + "^" + std::to_string(here.power) + (name.empty() ? "" : "*" + name);
    const std::optional<latex::Unit> found = latex::read_unit(name);
    if (!found || found->powers != wanted->powers) continue;
    const auto end = e->args.begin() + static_cast<std::ptrdiff_t>(first);
    return arena.make({.op = Op::kUnit, .name = name, .args = {arena.mul({e->args.begin(), end})}});
  }
  return e;
}

}  // namespace lie::equal
