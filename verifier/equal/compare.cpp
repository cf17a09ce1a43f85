#include "verifier/equal/compare.h"

#include <algorithm>

#include "verifier/equal/comparer.h"
#include "verifier/equal/rewrite.h"

namespace lie::equal {
namespace {

using expr::Rel;

// The same tree, node by node.
bool same_tree(const Expr& a, const Expr& b) {
  return a.op == b.op && a.fn == b.fn && a.flag == b.flag && a.open == b.open &&
         a.close == b.close && a.columns == b.columns && a.name == b.name && a.value == b.value &&
         a.relations == b.relations &&
         std::ranges::equal(a.args, b.args,
                            [](const Expr* x, const Expr* y) { return same_tree(*x, *y); });
}

// 1/2 + 1/2 = 1: an equation between constants ends in a value.
bool is_value_chain(const Expr& e) {
  return e.relations.back() == Rel::kEqual && std::ranges::all_of(e.args, [](const Expr* arg) {
           return is_scalar(*arg) && !has_names(*arg);
         });
}

// 6 = 5, x = 6 = 5: says that two whole numbers or fractions are one.
bool contradicts_itself(const Expr& e) {
  const auto equals = [](Rel rel) { return rel == Rel::kEqual; };
  if (e.op != Op::kRelation || !std::ranges::all_of(e.relations, equals)) return false;
  const Expr* first = nullptr;
  for (const Expr* part : e.args) {
    if (part->op != Op::kNumber || part->flag) continue;
    if (first != nullptr && !(first->value == part->value)) return true;
    first = part;
  }
  return false;
}

// A column or a row of a matrix against a tuple with as many parts.
bool is_vector(const Expr& matrix, const Expr& tuple) {
  const auto columns = static_cast<std::size_t>(matrix.columns);
  return matrix.op == Op::kMatrix && (columns == 1 || columns == matrix.args.size()) &&
         tuple.op == Op::kTuple && tuple.open == '(' && tuple.close == ')' &&
         tuple.args.size() == matrix.args.size();
}

// P(3, 4) is the point (3, 4).
const Expr* without_point_name(const Expr* e) {
  const bool named = e->op == Op::kMul && e->args.size() == 2 && e->args[0]->op == Op::kSymbol &&
                     e->args[0]->name.size() == 1 && e->args[0]->name[0] < 'a' &&
                     e->args[1]->op == Op::kTuple;
  return named ? e->args[1] : e;
}

// x \equiv 7 \pmod{10} gives 7.
const Expr* residue(const Expr* e) {
  const bool modular = e->op == Op::kTuple && e->open == 0 && e->args[0]->op == Op::kRelation &&
                       e->args[0]->relations == std::vector{Rel::kEquivalent} &&
                       is_name(*e->args[0]->args[0]);
  return modular ? e->args[0]->args[1] : e;
}

bool says_otherwise(const Expr& condition) {
  return condition.op == Op::kText && is_one_of(condition.name, "otherwise", "else");
}

}  // namespace

Tri Comparer::equal(const Expr* gold, const Expr* answer) {
  if (!arena_.budget().spend()) return Tri::kUnknown;
  if (approximations_differ(*gold, *answer)) return Tri::kNo;
  const Expr* written = answer;
  gold = prepared(gold);
  answer = prepared(answer);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  if (same_tree(*gold, *answer)) return Tri::kYes;
  if (contradicts_itself(*written)) return Tri::kNo;
  if (gold->op == Op::kText || answer->op == Op::kText) return equal_texts(gold, answer);
  strip_assignments(gold, answer);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  if (gold->op == Op::kText || answer->op == Op::kText) return equal_texts(gold, answer);
  if (is_scalar(*gold)) answer = residue(answer);
  if (is_scalar(*answer)) gold = residue(gold);
  if (gold->op == Op::kTuple) answer = without_point_name(answer);
  if (answer->op == Op::kTuple) gold = without_point_name(gold);
  strip_membership(gold, answer);
  answer = with_names_of(*gold, *answer, arena_);
  if (answer == nullptr) return Tri::kUnknown;
  if (gold->op == Op::kRelation && answer->op == Op::kRelation) return relations(*gold, *answer);
  if (are_real_sets(*gold, *answer, options_))
    return equal_real_sets(*gold, *answer, arena_, options_);
  if (gold->op == Op::kRelation || answer->op == Op::kRelation) return Tri::kNo;
  if (is_vector(*gold, *answer) || is_vector(*answer, *gold)) return in_order(*gold, *answer);
  if (is_collection(*gold) || is_collection(*answer)) return collections(gold, answer);
  if (!is_scalar(*gold) || !is_scalar(*answer)) return structures(*gold, *answer);
  return scalars(gold, answer);
}

// a = 4/3 ~ 1.33: what follows the sign is dropped, but where both sides give it, it agrees in
// the digits that both have.
bool Comparer::approximations_differ(const Expr& gold, const Expr& answer) {
  const Expr* a = dropped_approximation(gold, options_);
  const Expr* b = dropped_approximation(answer, options_);
  if (a == nullptr || b == nullptr) return false;
  if (!is_scalar(*a) || !is_scalar(*b) || !has_decimal(*a) || !has_decimal(*b)) return false;
  VerifierOptions digits = options_;
  digits.decimals = DecimalRule::kHalfUlp;
  return scalar::equal_scalars(*a, *b, digits, arena_.budget()) == Tri::kNo;
}

// Names and labels before values count only where both sides carry them.
void Comparer::strip_assignments(const Expr*& gold, const Expr*& answer) {
  if (!options_.assignment) return;
  if (lists_ == 0 && is_labelled(*gold) != is_labelled(*answer)) {
    gold = without_label(gold);
    answer = without_label(answer);
    return;
  }
  const bool gold_relates = gold->op == Op::kRelation;
  const bool answer_relates = answer->op == Op::kRelation;
  if (gold_relates == answer_relates) return;
  if (answer_relates && is_assignment(*answer))
    answer = prepared(answer->args[1]);
  else if (answer_relates && options_.last_of_chain && is_value_chain(*answer))
    answer = prepared(answer->args.back());
  if (gold_relates && is_assignment(*gold)) gold = prepared(gold->args[1]);
}

// Rows of a value and its condition, in any order; "otherwise" is the condition that is left.
Tri Comparer::cases(const Expr& gold, const Expr& answer) {
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < answer.args.size(); k += 2) left.push_back(k);
  const Expr* const* open = nullptr;  // a gold row without its like
  for (std::size_t k = 0; k < gold.args.size(); k += 2) {
    const Expr* const* row = &gold.args[k];
    const auto same = [&](std::size_t i) {
      return both(equal(row[0], answer.args[i]), equal(row[1], answer.args[i + 1])) == Tri::kYes;
    };
    const auto found = std::ranges::find_if(left, same);
    if (found != left.end()) {
      left.erase(found);
    } else if (open == nullptr) {
      open = row;
    } else {
      return Tri::kNo;
    }
  }
  if (open == nullptr) return Tri::kYes;
  if (!says_otherwise(*open[1]) && !says_otherwise(*answer.args[left[0] + 1])) return Tri::kNo;
  return equal(open[0], answer.args[left[0]]);
}

// An inequality against x \in S is one against S.
void Comparer::strip_membership(const Expr*& gold, const Expr*& answer) {
  const auto member = [](const Expr& e) {
    return e.op == Op::kRelation && e.relations[0] == Rel::kIn && is_assignment(e);
  };
  if (is_inequality(*gold) && member(*answer) && options_.interval_for_relation)
    answer = answer->args[1];
  else if (is_inequality(*answer) && member(*gold) && options_.relation_for_interval)
    gold = gold->args[1];
}

// Matrices, cases, unions with names in them, times: the same shape with equal parts.
Tri Comparer::structures(const Expr& gold, const Expr& answer) {
  if (gold.op != answer.op || gold.columns != answer.columns ||
      gold.args.size() != answer.args.size() || gold.name != answer.name)
    return Tri::kNo;
  if (gold.op == Op::kCases && gold.columns == 2) return cases(gold, answer);
  if (gold.op == Op::kUnion || gold.op == Op::kIntersection) return in_any_order(gold, answer);
  return in_order(gold, answer);
}

Tri compare(const Expr* gold, const Expr* answer, Arena& arena, const VerifierOptions& options) {
  answer = match_names(gold, answer, arena, options);
  if (answer == nullptr) return Tri::kUnknown;
  const Pair pair = with_declaration_understood({gold, answer}, arena);
  if (pair.gold == nullptr || pair.answer == nullptr) return Tri::kUnknown;
  return Comparer(arena, options).equal(pair.gold, pair.answer);
}

}  // namespace lie::equal
