// The comparison. Its members are grouped by the file that defines them.
#pragma once

#include <span>
#include <vector>

#include "verifier/equal/kind.h"
#include "verifier/equal/prepare.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using expr::Arena, expr::Expr, expr::Op, scalar::Tri;

/// Returns whether a part has a label, as in "smallest: 2".
bool is_labeled(const Expr& part);

/// Returns whether every side of the inequalities, also in set builders, is a constant, a name or a
/// call.
bool is_solved(const Expr& inequalities);

/// Pairs each part of the gold with an equal part of the answer, which counts once.
template <typename Part, typename Equal>
Tri all_matched(const std::vector<Part>& gold, std::vector<Part> answer, Equal equal) {
  Tri out = Tri::kYes;
  for (const Part& part : gold) {
    Tri best = Tri::kNo;
    for (std::size_t i = 0; i < answer.size() && best != Tri::kYes; ++i) {
      const Tri here = equal(part, answer[i]);
      if (here != Tri::kNo) best = here;
      if (here == Tri::kYes) answer.erase(answer.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (best == Tri::kNo) return Tri::kNo;
    out = both(out, best);
  }
  return out;
}

class Comparer {
 public:
  Comparer(Arena& arena, const VerifierOptions& options) : arena_(arena), options_(options) {}

  Tri equal(const Expr* gold, const Expr* answer);

 private:
  using Rule = Tri (Comparer::*)(const Expr*, const Expr*);
  struct Row {
    Kind gold, answer;
    Rule rule;
    bool both_ways = false;  // also for the answer's kind as gold and the gold's as answer
  };
  static std::span<const Row> table();

  // --- compare.cpp: the table of rules ---
  const Expr* prepared(const Expr* e) { return prepare(e, arena_, options_); }
  bool approximations_differ(const Expr& gold, const Expr& answer);
  void strip_assignments(const Expr*& gold, const Expr*& answer);
  void strip_membership(const Expr*& gold, const Expr*& answer);
  bool is_far(const Expr* a, const Expr* b);
  bool contradicts_itself(const Expr& e);
  bool states_equations(const Expr& e);
  Tri chains(const Expr& gold, const Expr& answer);
  Tri structures(const Expr* gold, const Expr* answer);
  Tri pieces(const Expr& gold, const Expr& answer);
  Tri is_rest(const Expr& cases, std::size_t row, const Expr& condition);
  Tri lone_cell(const Expr* gold, const Expr* answer);
  Tri vector_and_tuple(const Expr* gold, const Expr* answer);
  Tri real_sets(const Expr* gold, const Expr* answer);

  // --- residues.cpp ---
  Tri congruent(const Expr* a, const Expr* b, const Expr* modulus);
  Tri residues(const Expr* gold, const Expr* answer);
  Tri value_of_residue(const Expr* gold, const Expr* answer);
  Tri is_other_parity(const Expr& residue, const Expr& other);

  // --- codes.cpp ---
  Tri codes(const Expr* gold, const Expr* answer);
  Tri code_and_name(const Expr* gold, const Expr* answer);
  Tri value_of_code(const Expr* gold, const Expr* answer);
  Tri code_and_list(const Expr* gold, const Expr* answer);

  // --- collections.cpp ---
  Tri relations(const Expr* gold, const Expr* answer);
  Tri inequalities(const Expr* gold, const Expr* answer);
  Tri lists(const Expr* gold, const Expr* answer);
  Tri tuple_and_list(const Expr* gold, const Expr* answer);
  const Expr* without_label(const Expr* part);
  Tri one_value(const Expr* gold, const Expr* answer);
  const Expr* distinct(const Expr* list);
  Tri tuples(const Expr* gold, const Expr* answer);
  Tri element(const Expr* gold, const Expr* answer);
  Tri in_order(const Expr& gold, const Expr& answer);
  Tri in_any_order(const Expr& gold, const Expr& answer);
  Tri in_named_order(const Expr* gold, const Expr* answer);

  // --- units.cpp ---
  Tri units(const Expr* gold, const Expr* answer);
  Tri described(const Expr* gold, const Expr* answer);
  Tri quantities(const Expr* gold, const Expr* answer);

  // --- scalars.cpp ---
  Tri scalars(const Expr* gold, const Expr* answer);
  Tri differ_by_constant(const Expr* gold, const Expr* answer);
  bool percent_may_lack(const Expr& percent);
  Tri degrees(const Expr* gold, const Expr* answer);
  Tri based(const Expr* gold, const Expr* answer);
  Tri ratios(const Expr* gold, const Expr* answer);

  Arena& arena_;
  const VerifierOptions& options_;
  int lists_ = 0;  // number of lists around the parts: constants of a list belong together
};

}  // namespace lie::equal
