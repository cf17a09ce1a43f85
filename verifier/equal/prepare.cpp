#include "verifier/equal/prepare.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "verifier/equal/kind.h"
#include "verifier/scalar/equality.h"
#include "verifier/scalar/rational_value.h"

namespace lie::equal {
namespace {

using expr::Arena, expr::Expr, expr::Op, expr::Rel, scalar::folded;

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

// Returns the expression once for each choice of its signs +-. Signs are independent, unless a -+
// or more than four signs occur: then all upper and all lower ones belong together. Returns the
// expression itself if there is no sign.
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

// Evaluates sums and products of matrices.
const Expr* evaluate_structures(const Expr* e, Arena& arena) {
  if (e == nullptr || !e->has(expr::trait::kMatrix)) return e;
  return evaluate_one(
      map_args(e, arena, [&](const Expr* arg) { return evaluate_structures(arg, arena); }), arena);
}

// --- chains of equations -----------------------------------------------------------------------

bool is_equation_chain(const Expr& e) {
  return e.op == Op::kRelation && std::ranges::all_of(e.relations, [](Rel rel) {
           return is_one_of(rel, Rel::kEqual, Rel::kApprox, Rel::kArrow, Rel::kIff);
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

// Returns what is behind the last arrow of n = 5 => n^2 = 25, or the chain itself.
const Expr* conclusion(const Expr* e, Arena& arena) {
  const auto arrow = std::ranges::find(e->relations.rbegin(), e->relations.rend(), Rel::kArrow);
  const std::ptrdiff_t behind = arrow.base() - e->relations.begin();  // relations up to the arrow
  const bool concludes =
      behind > 1 && arrow != e->relations.rbegin() && e->relations[0] == Rel::kEqual;
  if (!concludes) return e;
  Expr rest{.op = Op::kRelation};
  rest.args.assign(e->args.begin() + behind, e->args.end());
  rest.relations.assign(e->relations.begin() + behind, e->relations.end());
  return arena.make(std::move(rest));
}

// Shortens chains of equations to first = last and drops approximations, if `last_of_chain` is set.
const Expr* shorten_chain(const Expr* e, Arena& arena, const VerifierOptions& options) {
  if (e == nullptr || !options.last_of_chain || !is_equation_chain(*e)) return e;
  e = conclusion(e, arena);
  if (e == nullptr) return e;
  const std::size_t last = last_exact(*e);
  if (last == 0) return e->relations[0] == Rel::kApprox ? e->args[0] : e;
  if (last == 1 && e->relations.size() == 1 && e->relations[0] == Rel::kEqual) return e;
  if (is_one_of(e->relations[0], Rel::kArrow, Rel::kIff)) return e;
  return arena.make(
      {.op = Op::kRelation, .args = {e->args[0], e->args[last]}, .relations = {Rel::kEqual}});
}

// Returns the element of sets, tuples and lists of one element.
const Expr* unwrap(const Expr* e) {
  while (e != nullptr && (e->op == Op::kSet || e->op == Op::kTuple || e->op == Op::kList) &&
         e->args.size() == 1 && e->args.front()->op != Op::kNamedSet)
    e = e->args.front();
  return e;
}

bool is_real_member(const Expr& e) {
  return e.op == Op::kRelation && e.relations[0] == Rel::kIn && e.args[1]->name == "R" &&
         e.args[0]->op == Op::kSymbol;
}

// Returns the list with signs expanded and without x \in \mathbb{R}.
const Expr* spread(const Expr* list, Arena& arena, const VerifierOptions& options) {
  std::vector<const Expr*> items;
  for (const Expr* arg : list->args) {
    if (is_real_member(*arg)) continue;
    for (const Expr* item : expand_signs(shorten_chain(arg, arena, options), arena))
      items.push_back(item);
  }
  if (items.empty() || items == list->args) return list;
  return arena.make(
      {.op = list->op, .flag = list->flag, .open = list->open, .args = std::move(items)});
}

// Rewrites 2 = x as x = 2.
const Expr* turned(const Expr* e, Arena& arena) {
  const bool value_first = e->relations == std::vector{Rel::kEqual} && is_constant(*e->args[0]) &&
                           e->args[1]->op == Op::kSymbol;
  if (!value_first) return e;
  return arena.make(
      {.op = Op::kRelation, .args = {e->args[1], e->args[0]}, .relations = {Rel::kEqual}});
}

constexpr std::size_t kMostSolutions = 64;

// Returns the equations of a list by their letters, or nothing if it has other parts.
std::map<std::string, std::vector<const Expr*>> equations_by_letter(const Expr& list) {
  std::map<std::string, std::vector<const Expr*>> out;
  for (const Expr* part : list.args) {
    const bool solved = part->op == Op::kRelation && part->relations == std::vector{Rel::kEqual} &&
                        part->args[0]->op == Op::kSymbol;
    if (!solved) return {};
    out[part->args[0]->name].push_back(part);
  }
  return out;
}

// Returns a point for each choice of one equation for each letter.
std::vector<std::vector<const Expr*>> points_of(const Expr& list) {
  std::vector<std::vector<const Expr*>> points(1);
  for (const auto& [letter, equations] : equations_by_letter(list)) {
    std::vector<std::vector<const Expr*>> longer;
    if (points.size() * equations.size() > kMostSolutions) return {};
    for (const std::vector<const Expr*>& point : points) {
      for (const Expr* equation : equations) {
        longer.push_back(point);
        longer.back().push_back(equation);
      }
    }
    points = std::move(longer);
  }
  return points;
}

// Returns whether a list holds only points of n coordinates.
bool holds_points(const Expr& list, std::size_t n) {
  return is_one_of(list.op, Op::kList, Op::kSet) &&
         std::ranges::all_of(list.args, [n](const Expr* part) {
           return part->op == Op::kTuple && part->open == '(' && part->args.size() == n;
         });
}

}  // namespace

const Expr* as_points(const Expr& other, const Expr* list, Arena& arena) {
  if (list == nullptr || other.args.empty() || other.args[0]->op != Op::kTuple) return list;
  const std::size_t letters = list->op == Op::kList ? equations_by_letter(*list).size() : 0;
  if (letters < 2 || !holds_points(other, letters)) return list;
  Expr out{.op = Op::kList};
  for (const Expr* chosen : expand_signs(list, arena))
    for (std::vector<const Expr*>& point : points_of(*chosen))
      out.args.push_back(
          arena.make({.op = Op::kTuple, .open = '(', .close = ')', .args = std::move(point)}));
  return out.args.size() < 2 || out.args.size() > kMostSolutions ? list
                                                                 : arena.make(std::move(out));
}

const Expr* dropped_approximation(const Expr& e, const VerifierOptions& options) {
  if (!options.last_of_chain || !is_equation_chain(e)) return nullptr;
  const std::size_t last = last_exact(e);
  return last < e.relations.size() && e.relations[last] == Rel::kApprox ? e.args[last + 1]
                                                                        : nullptr;
}

const Expr* prepare(const Expr* e, Arena& arena, const VerifierOptions& options) {
  e = evaluate_structures(shorten_chain(unwrap(e), arena, options), arena);
  if (e != nullptr) e = turned(e, arena);
  if (e == nullptr) return e;
  if (e->op == Op::kList || e->op == Op::kSet) return unwrap(spread(e, arena, options));
  const std::vector<const Expr*> either = expand_signs(e, arena);
  if (either.empty()) return nullptr;
  return either.size() > 1 ? arena.node(Op::kList, either) : e;
}

}  // namespace lie::equal
