#include "verifier/equal/parts.h"

#include <algorithm>
#include <vector>

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
    if (e == nullptr) return e;
    e = turned(e);
    if (e == nullptr) return e;
    if (e->op == Op::kList || e->op == Op::kSet) return regrouped(spread(e));
    const std::vector<const Expr*> either = expand_signs(e, arena_);
    if (either.empty()) return nullptr;
    return either.size() > 1 ? arena_.node(Op::kList, either) : e;
  }

 private:
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

  // Rewrites 2 = x as x = 2.
  const Expr* turned(const Expr* e) {
    const bool value_first = e->relations == std::vector{Rel::kEqual} && is_scalar(*e->args[0]) &&
                             !has_names(*e->args[0]) && e->args[1]->op == Op::kSymbol;
    return value_first ? assigned(e->args[1], e->args[0]) : e;
  }

  const Expr* assigned(const Expr* name, const Expr* value, Rel rel = Rel::kEqual) {
    return arena_.make({.op = Op::kRelation, .args = {name, value}, .relations = {rel}});
  }

  // Rewrites x = 1, 2 as x = 1, x = 2.
  const Expr* regrouped(const Expr* list) {
    if (list == nullptr) return list;
    if (list->args.size() < 2) return unwrap(list);
    if (!is_assignment(*list->args[0])) return list;
    std::vector<const Expr*> items = {list->args[0]};
    bool all = true;
    for (std::size_t i = 1; i < list->args.size(); ++i) {
      const Expr* item = list->args[i];
      all = all && is_assignment(*item);
      items.push_back(item->op == Op::kRelation ? item : assigned(list->args[0]->args[0], item));
    }
    if (items[0]->relations[0] == Rel::kIn && !all)
      items[0] = assigned(items[0]->args[0], items[0]->args[1]);
    return all ? list : with_items(list, std::move(items));
  }

  Arena& arena_;
  const VerifierOptions& options_;
};

}  // namespace

const Expr* prepare(const Expr* e, Arena& arena, const VerifierOptions& options) {
  return Preparer(arena, options).run(e);
}

}  // namespace lie::equal
