#include "verifier/equal/parts.h"

#include <algorithm>
#include <vector>

#include "verifier/calculus/evaluate.h"
#include "verifier/equal/rewrite.h"
#include "verifier/expr/substitute.h"

namespace lie::equal {
namespace {

using expr::Arena, expr::Expr, expr::Op, expr::Rel;

class Preparer {
 public:
  Preparer(Arena& arena, const VerifierOptions& options) : arena_(arena), options_(options) {}

  const Expr* run(const Expr* e) {
    e = unwrap(e);
    if (e == nullptr) return e;
    e = shorten_chain(e, arena_, options_);
    e = evaluate_structures(e, arena_);
    if (e != nullptr) e = calculus::evaluate(e, arena_, options_);
    if (e == nullptr) return e;
    e = turned(e);
    if (e->op == Op::kList || e->op == Op::kSet) return regrouped(spread(e));
    e = with_conditions_spread(e);
    const std::vector<const Expr*> either = expand_signs(e, arena_);
    if (either.empty()) return nullptr;
    if (either.size() > 1) return arena_.node(Op::kList, either);
    return named_set(e);
  }

 private:
  // Rewrites the condition x != +-1 of a set builder as two, which exclude both values.
  const Expr* with_conditions_spread(const Expr* e) {
    if (e == nullptr || !e->has(expr::trait::kSign)) return e;
    if (is_one_of(e->op, Op::kUnion, Op::kIntersection, Op::kDifference))
      return map_args(e, arena_, [this](const Expr* arg) { return with_conditions_spread(arg); });
    if (e->op != Op::kSetBuilder) return e;
    std::vector<const Expr*> parts = {e->args[0]};
    for (std::size_t i = 1; i < e->args.size(); ++i) {
      const std::vector<const Expr*> either = expand_signs(e->args[i], arena_);
      parts.push_back(either.size() == 1 ? either[0] : arena_.node(Op::kList, either));
    }
    return arena_.node(Op::kSetBuilder, std::move(parts));
  }

  // Returns the list with signs expanded and without x \in \mathbb{R}.
  const Expr* spread(const Expr* list) {
    std::vector<const Expr*> items;
    for (const Expr* arg : list->args) {
      if (is_real_member(*arg)) continue;
      for (const Expr* item : expand_signs(shorten_chain(arg, arena_, options_), arena_))
        items.push_back(item);
    }
    if (items.empty()) return list;
    if (items.size() == list->args.size() && std::ranges::equal(items, list->args)) return list;
    return with_items(list, std::move(items));
  }

  // Returns the list with other items and the same connective.
  const Expr* with_items(const Expr* list, std::vector<const Expr*> items) {
    return arena_.make(
        {.op = list->op, .flag = list->flag, .open = list->open, .args = std::move(items)});
  }

  static bool is_real_member(const Expr& e) {
    return e.op == Op::kRelation && e.relations[0] == Rel::kIn && e.args[1]->name == "R" &&
           e.args[0]->op == Op::kSymbol;
  }

  // Rewrites x = {1, 2} and x \in {1, 2} as x = 1, x = 2.
  const Expr* named_set(const Expr* e) {
    if (!is_assignment(*e) || (e->args[1]->op != Op::kSet && e->args[1]->op != Op::kList)) return e;
    std::vector<const Expr*> items;
    for (const Expr* value : e->args[1]->args) items.push_back(assigned(e->args[0], value));
    return arena_.node(Op::kList, std::move(items));
  }

  // Rewrites 2 = x as x = 2.
  const Expr* turned(const Expr* e) {
    const bool value_first = e->relations == std::vector{Rel::kEqual} && is_scalar(*e->args[0]) &&
                             !has_names(*e->args[0]) && e->args[1]->op == Op::kSymbol;
    return value_first ? assigned(e->args[1], e->args[0]) : e;
  }

  const Expr* assigned(const Expr* name, const Expr* value, Rel rel = Rel::kEqual) {
    return arena_.make({.op = Op::kRelation, .args = {name, value}, .relations = {rel}});
  }

  // Rewrites x != 1, 2 as x != 1, x != 2.
  const Expr* excluded(const Expr* list) {
    const Expr& first = *list->args[0];
    if (first.relations != std::vector{Rel::kNotEqual} || !is_name(*first.args[0])) return list;
    std::vector<const Expr*> items;
    for (const Expr* item : list->args)
      items.push_back(item->op == Op::kRelation ? item
                                                : assigned(first.args[0], item, Rel::kNotEqual));
    return with_items(list, std::move(items));
  }

  // Rewrites x = 1, 2 as x = 1, x = 2, and p = 5, q = 2, p = 7, q = 2 as two tuples.
  const Expr* regrouped(const Expr* list) {
    if (list == nullptr) return list;
    if (list->args.size() < 2) return unwrap(list);
    if (!is_assignment(*list->args[0])) return excluded(list);
    std::vector<const Expr*> items = {list->args[0]};
    bool all = true;
    for (std::size_t i = 1; i < list->args.size(); ++i) {
      const Expr* item = list->args[i];
      all = all && is_assignment(*item);
      items.push_back(item->op == Op::kRelation ? item : assigned(list->args[0]->args[0], item));
    }
    if (items[0]->relations[0] == Rel::kIn && !all)
      items[0] = assigned(items[0]->args[0], items[0]->args[1]);
    return all ? tuples_of_names(list) : with_items(list, std::move(items));
  }

  const Expr* tuples_of_names(const Expr* list) {
    std::size_t period = 1;
    const std::size_t n = list->args.size();
    while (period < n && to_text(*list->args[period]->args[0]) != to_text(*list->args[0]->args[0]))
      ++period;
    if (period < 2 || period >= n || n % period != 0) return list;
    std::vector<const Expr*> items;
    for (std::size_t i = 0; i < n; i += period) {
      const auto first = list->args.begin() + static_cast<std::ptrdiff_t>(i);
      std::vector<const Expr*> values(first, first + static_cast<std::ptrdiff_t>(period));
      items.push_back(
          arena_.make({.op = Op::kTuple, .open = '(', .close = ')', .args = std::move(values)}));
    }
    return arena_.node(list->op, std::move(items));
  }

  Arena& arena_;
  const VerifierOptions& options_;
};

}  // namespace

const Expr* prepare(const Expr* e, Arena& arena, const VerifierOptions& options) {
  return Preparer(arena, options).run(e);
}

}  // namespace lie::equal
