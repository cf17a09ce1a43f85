// The comparison's state and its rules, grouped by the file that holds them.
#pragma once

#include "verifier/equal/parts.h"

namespace lie::equal {

using expr::Arena, expr::Expr, expr::Op;

inline bool is_collection(const Expr& e) {
  return is_one_of(e.op, Op::kList, Op::kSet, Op::kTuple);
}

/// smallest: 2
bool is_labelled(const Expr& part);

class Comparer {
 public:
  Comparer(Arena& arena, const VerifierOptions& options) : arena_(arena), options_(options) {}

  Tri equal(const Expr* gold, const Expr* answer);

 private:
  // --- compare.cpp: what is compared as what ---
  const Expr* prepared(const Expr* e) { return prepare(e, arena_, options_); }
  bool approximations_differ(const Expr& gold, const Expr& answer);
  void strip_assignments(const Expr*& gold, const Expr*& answer);
  void strip_membership(const Expr*& gold, const Expr*& answer);
  Tri structures(const Expr& gold, const Expr& answer);
  Tri cases(const Expr& gold, const Expr& answer);

  // --- relations.cpp ---
  Tri relations(const Expr& gold, const Expr& answer);

  // --- collections.cpp ---
  Tri collections(const Expr* gold, const Expr* answer);
  Tri labelled(const Expr& gold, const Expr& answer);
  const Expr* without_label(const Expr* part);
  const Expr* without_labels(const Expr& list);
  Tri one_value(const Expr* gold, const Expr* answer);
  const Expr* distinct(const Expr* list);
  Tri tuples(const Expr& gold, const Expr& answer);
  Tri element(const Expr* gold, const Expr* answer);
  Tri in_order(const Expr& gold, const Expr& answer);
  Tri in_any_order(const Expr& gold, const Expr& answer);

  // --- scalars.cpp ---
  Tri scalars(const Expr* gold, const Expr* answer);
  bool percent_may_lack(const Expr& percent);
  Tri units(const Expr* gold, const Expr* answer);
  Tri degrees(const Expr* gold, const Expr* answer);
  Tri based(const Expr* gold, const Expr* answer);
  Tri ratios(const Expr* gold, const Expr* answer);

  Arena& arena_;
  const VerifierOptions& options_;
  int lists_ = 0;  // around what is compared: the constants of a list's parts belong together
};

}  // namespace lie::equal
