#include "verifier/equal/compare.h"

#include <algorithm>
#include <numeric>

#include "verifier/equal/comparer.h"
#include "verifier/equal/kind.h"
#include "verifier/equal/names.h"
#include "verifier/equal/parameters.h"
#include "verifier/equal/prepare.h"
#include "verifier/equal/sets.h"
#include "verifier/equal/units.h"

namespace lie::equal {
namespace {

using expr::Rel;

// Returns whether an equation between constants ends in a value: 1/2 + 1/2 = 1.
bool is_value_chain(const Expr& e) {
  return e.relations.back() == Rel::kEqual &&
         std::ranges::all_of(e.args, [](const Expr* arg) { return is_constant(*arg); });
}

// Returns whether an assignment means its right side, as x = 5 and f(x) = x^2 do. Equations of
// names, such as A = C and ma + b = f, mean more.
bool gives_value(const Expr& e) {
  if (!is_assignment(e)) return false;
  const Expr &name = *e.args[0], &value = *e.args[1];
  if (!has_names(value)) return true;
  // The name A(x) of a function is read as a product.
  const bool call = name.op == Op::kMul && name.args.size() == 2 &&
                    name.args[1]->op == Op::kSymbol && is_free_in(value, name.args[1]->name);
  if (!call && is_one_of(name.op, Op::kAdd, Op::kMul, Op::kPow, Op::kRatio)) return false;
  if (value.op != Op::kSymbol) return true;
  return name.op == Op::kApply && std::ranges::any_of(name.args, [&](const Expr* argument) {
           return same_tree(*argument, value);
         });
}

// Returns the index of a unit vector i, j or k.
std::optional<std::size_t> axis(const Expr& e) {
  if (e.op == Op::kConstant && e.name == "i") return 0;
  if (e.op == Op::kSymbol && is_one_of(e.name, "j", "k")) return e.name == "j" ? 1 : 2;
  return std::nullopt;
}

// Reads 2i - 3j as (2, -3) if compared with a tuple of n parts. Without j and k it is a number.
const Expr* as_tuple(const Expr* e, std::size_t n, Arena& arena) {
  std::vector<std::vector<const Expr*>> parts(n);
  bool vector = false;
  for (const Expr* term : e->op == Op::kAdd ? e->args : std::vector{e}) {
    std::vector<const Expr*> factors = term->op == Op::kMul ? term->args : std::vector{term};
    const auto unit =
        std::ranges::find_if(factors, [](const Expr* f) { return axis(*f).has_value(); });
    const std::size_t at = unit == factors.end() ? n : *axis(**unit);
    if (at >= n) return e;
    vector = vector || at > 0;
    factors.erase(unit);
    parts[at].push_back(factors.empty() ? arena.number(1) : arena.mul(std::move(factors)));
  }
  if (!vector) return e;
  Expr tuple{.op = Op::kTuple, .open = '(', .close = ')'};
  for (std::vector<const Expr*>& part : parts)
    tuple.args.push_back(part.empty() ? arena.number(0) : arena.add(std::move(part)));
  return arena.make(std::move(tuple));
}

// Reads the formula 6/x as y = 6/x, if the gold is an equation such as xy = 6.
const Expr* as_graph(const Expr& gold, const Expr* answer, Arena& arena) {
  const bool formula = gold.relations == std::vector{Rel::kEqual} && is_scalar(*answer) &&
                       has_names(*answer) && !is_free_in(*answer, "y") && is_free_in(gold, "y");
  if (!formula || free_names(gold).size() != free_names(*answer).size() + 1) return answer;
  return arena.make(
      {.op = Op::kRelation, .args = {arena.symbol("y"), answer}, .relations = {Rel::kEqual}});
}

// Reads C(10, 3) as a binomial.
const Expr* as_binomial(const Expr* e, Arena& arena) {
  const auto whole = [](const Expr* n) { return n->op == Op::kNumber && n->value.is_integer(); };
  const bool named = e->op == Op::kMul && e->args.size() == 2 && e->args[0]->op == Op::kSymbol &&
                     e->args[0]->name == "C" && e->args[1]->op == Op::kTuple &&
                     e->args[1]->open == '(' && e->args[1]->close == ')' &&
                     e->args[1]->args.size() == 2 && std::ranges::all_of(e->args[1]->args, whole) &&
                     !(e->args[1]->args[0]->value < e->args[1]->args[1]->value);
  return named ? arena.call(expr::Fn::kBinomial, e->args[1]->args) : e;
}

// Reads the chain x = y = 1 as x = 1, y = 1, if the other side is a point or list of as many parts.
const Expr* unchained_for(const Expr& other, const Expr* e, Arena& arena) {
  const std::size_t names = e->args.size() - 1;
  const auto is_equal = [](Rel rel) { return rel == Rel::kEqual; };
  const bool chain = e->op == Op::kRelation && names > 1 &&
                     std::ranges::all_of(e->relations, is_equal) &&
                     is_one_of(other.op, Op::kTuple, Op::kList) && other.args.size() == names &&
                     is_constant(*e->args.back()) &&
                     std::all_of(e->args.begin(), e->args.end() - 1,
                                 [](const Expr* name) { return name->op == Op::kSymbol; });
  if (!chain) return e;
  Expr list{.op = Op::kList};
  for (std::size_t i = 0; i < names; ++i)
    list.args.push_back(arena.make(
        {.op = Op::kRelation, .args = {e->args[i], e->args.back()}, .relations = {Rel::kEqual}}));
  return arena.make(std::move(list));
}

}  // namespace

// The rules by the kinds of gold and answer. Kinds that no row pairs are unequal.
std::span<const Comparer::Row> Comparer::table() {
  using enum Kind;
  static constexpr Row kTable[] = {
      {kScalar, kScalar, &Comparer::scalars},
      {kCode, kCode, &Comparer::codes},
      {kCode, kScalar, &Comparer::code_and_name},
      {kScalar, kCode, &Comparer::value_of_code},
      {kCode, kList, &Comparer::code_and_list, true},
      {kScalar, kList, &Comparer::one_value, true},
      {kScalar, kMatrix, &Comparer::lone_cell, true},
      {kPair, kPair, &Comparer::tuples},
      {kTuple, kTuple, &Comparer::tuples},
      {kPair, kTuple, &Comparer::tuples, true},
      {kPair, kList, &Comparer::tuple_and_list, true},
      {kTuple, kList, &Comparer::tuple_and_list, true},
      {kMatrix, kPair, &Comparer::vector_and_tuple, true},
      {kMatrix, kTuple, &Comparer::vector_and_tuple, true},
      {kMatrix, kMatrix, &Comparer::structures},
      {kResidue, kResidue, &Comparer::residues},
      {kResidue, kScalar, &Comparer::value_of_residue, true},
      {kOther, kOther, &Comparer::structures},
      {kList, kList, &Comparer::lists},
      {kList, kRelation, &Comparer::one_value, true},
      {kRelation, kRelation, &Comparer::relations},
      {kInequality, kInequality, &Comparer::inequalities},
      {kInequality, kPair, &Comparer::real_sets, true},
      {kInequality, kRealSet, &Comparer::real_sets, true},
      {kInequality, kList, &Comparer::real_sets, true},
      {kRealSet, kRealSet, &Comparer::real_sets},
      {kRealSet, kPair, &Comparer::real_sets, true},
      {kRealSet, kList, &Comparer::real_sets, true},
  };
  return kTable;
}

// Returns whether a chain states several equations, as x = y = z does. The parts of a calculation
// or definition such as f(x) = (x + 1)^2 = x^2 + 2x + 1 are steps.
bool Comparer::states_equations(const Expr& e) {
  const bool chain = options_.last_of_chain && e.op == Op::kRelation && e.relations.size() > 1 &&
                     std::ranges::all_of(e.relations, [](Rel rel) { return rel == Rel::kEqual; });
  if (!chain || !std::ranges::all_of(e.args, [](const Expr* part) { return is_scalar(*part); }))
    return false;
  const Expr& last = *e.args.back();
  if (!has_names(last) || (is_name(*e.args[0]) && !is_name(last))) return false;
  return std::any_of(e.args.begin() + 1, e.args.end() - 1, [&](const Expr* part) {
    return scalar::equal_scalars(*part, last, options_, arena_.budget()) == Tri::kNo;
  });
}

// Compares x = y = z with another chain: each neighbors' equation, with the parts in some order.
Tri Comparer::chains(const Expr& gold, const Expr& answer) {
  constexpr std::size_t kMostOrdered = 4;  // parts
  if (answer.op != Op::kRelation || answer.relations != gold.relations) return Tri::kNo;
  std::vector<std::size_t> order(gold.args.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Tri out = Tri::kNo;
  do {
    Tri here = Tri::kYes;
    for (std::size_t i = 0; i + 1 < order.size() && here != Tri::kNo; ++i) {
      const auto equation = [&](const Expr* left, const Expr* right) {
        return arena_.make(
            {.op = Op::kRelation, .args = {left, right}, .relations = {Rel::kEqual}});
      };
      here = both(here, equal(equation(gold.args[i], gold.args[i + 1]),
                              equation(answer.args[order[i]], answer.args[order[i + 1]])));
    }
    if (here == Tri::kYes) return here;
    if (here == Tri::kUnknown) out = here;
  } while (order.size() <= kMostOrdered && std::ranges::next_permutation(order).found);
  return out;
}

Tri Comparer::equal(const Expr* gold, const Expr* answer) {
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;  // the arena is full
  // Comparing walks over both trees several times.
  if (!arena_.budget().spend(1 + (gold->size + answer->size) / 64)) return Tri::kUnknown;
  if (approximations_differ(*gold, *answer)) return Tri::kNo;
  if (same_tree(*gold, *answer)) return Tri::kYes;
  if (contradicts_itself(*answer)) return Tri::kNo;
  if (states_equations(*gold)) return chains(*gold, *answer);
  const Expr* points = as_points(*answer, unchained_for(*answer, gold, arena_), arena_);
  answer = prepared(as_points(*gold, unchained_for(*gold, answer, arena_), arena_));
  gold = prepared(points);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  if (same_tree(*gold, *answer)) return Tri::kYes;
  if (gold->op != Op::kText && answer->op != Op::kText) strip_assignments(gold, answer);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  if (gold->op == Op::kText || answer->op == Op::kText) return equal_texts(gold, answer);
  if (is_one_of(gold->op, Op::kTuple, Op::kMatrix) && is_scalar(*answer))
    answer = as_tuple(answer, gold->args.size(), arena_);
  else if (is_one_of(answer->op, Op::kTuple, Op::kMatrix) && is_scalar(*gold))
    gold = as_tuple(gold, answer->args.size(), arena_);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  if (!has_names(*answer)) gold = as_binomial(gold, arena_);
  if (gold != nullptr && !has_names(*gold)) answer = as_binomial(answer, arena_);
  if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
  strip_membership(gold, answer);
  answer = with_names_of(*gold, *answer, arena_);
  if (answer == nullptr) return Tri::kUnknown;
  const Kind of_gold = kind_of(*gold), of_answer = kind_of(*answer);
  for (const Row& row : table())
    if ((row.gold == of_gold && row.answer == of_answer) ||
        (row.both_ways && row.gold == of_answer && row.answer == of_gold))
      return (this->*row.rule)(gold, answer);
  return Tri::kNo;
}

// A matrix of one cell stands for the cell.
Tri Comparer::lone_cell(const Expr* gold, const Expr* answer) {
  const Expr*& matrix = gold->op == Op::kMatrix ? gold : answer;
  if (matrix->args.size() != 1) return Tri::kNo;
  matrix = matrix->args.front();
  return equal(gold, answer);
}

// A column or row is a tuple, and a matrix may be written as a list of its rows: [[1, 2], [3, 4]].
Tri Comparer::vector_and_tuple(const Expr* gold, const Expr* answer) {
  const Expr*& tuple = gold->op == Op::kTuple ? gold : answer;
  const Expr& matrix = gold->op == Op::kTuple ? *answer : *gold;
  const auto columns = static_cast<std::size_t>(matrix.columns);
  const auto is_row = [&](const Expr* row) {
    return row->op == Op::kTuple && row->open == '[' && row->close == ']' &&
           row->args.size() == columns;
  };
  if (tuple->open == '[' && std::ranges::all_of(tuple->args, is_row)) {
    Expr rows{.op = Op::kMatrix, .columns = matrix.columns};
    for (const Expr* row : tuple->args)
      rows.args.insert(rows.args.end(), row->args.begin(), row->args.end());
    tuple = arena_.make(std::move(rows));
    return tuple == nullptr ? Tri::kUnknown : structures(gold, answer);
  }
  const bool is_line = columns == 1 || columns == matrix.args.size();
  const bool fits = is_line && tuple->open == '(' && tuple->close == ')' &&
                    tuple->args.size() == matrix.args.size();
  return fits ? in_order(*gold, *answer) : Tri::kNo;
}

// Compares sets of reals. A solved inequality is a set. One that is not solved, also in a set
// builder, may be the question.
Tri Comparer::real_sets(const Expr* gold, const Expr* answer) {
  if (!is_real_set(*gold) || !is_real_set(*answer) || !units_inside_agree(*gold, *answer))
    return Tri::kNo;
  const Kind of_gold = kind_of(*gold), of_answer = kind_of(*answer);
  const bool may_be_question =
      of_answer == Kind::kInequality || (of_answer == Kind::kRealSet && of_gold != Kind::kRealSet);
  const bool allowed =
      of_gold == Kind::kInequality
          ? options_.interval_for_relation
          : !may_be_question || options_.relation_for_interval || is_solved(*answer);
  return allowed ? equal_real_sets(*gold, *answer, arena_, options_) : Tri::kNo;
}

// Returns whether two numbers differ by more than a tenth of the first.
bool Comparer::is_far(const Expr* a, const Expr* b) {
  const Expr* gap = arena_.mul({arena_.number(10), arena_.add({a, arena_.negate(b)})});
  gap = arena_.call(expr::Fn::kAbs, {gap});
  const Expr* size = arena_.call(expr::Fn::kAbs, {a});
  return gap != nullptr && size != nullptr &&
         scalar::compare_reals(*gap, *size, options_, arena_.budget()) == 1;
}

// An equation such as x = 6 = 5 or 2 + 3 = 4 states that two different constants are equal. What
// follows an approximation sign must be within a tenth.
bool Comparer::contradicts_itself(const Expr& e) {
  const auto equals = [](Rel rel) { return is_one_of(rel, Rel::kEqual, Rel::kApprox); };
  if (e.op != Op::kRelation || !std::ranges::all_of(e.relations, equals)) return false;
  if (options_.salvage_last_equals) return false;
  const auto approximation = std::ranges::find(e.relations, Rel::kApprox) - e.relations.begin();
  const Expr* first = nullptr;
  VerifierOptions digits = options_;
  digits.decimals = DecimalRule::kHalfUlp;
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    const Expr* part = e.args[i];
    const bool states = is_constant(*part) && !part->has(expr::trait::kSign) &&
                        !is_one_of(part->op, Op::kUnit, Op::kDegree, Op::kPercent, Op::kBased);
    if (!states) continue;
    if (first == nullptr)
      first = part;
    else if (static_cast<std::ptrdiff_t>(i) > approximation
                 ? is_far(first, part)
                 : scalar::equal_scalars(*first, *part, digits, arena_.budget()) == Tri::kNo)
      return true;
  }
  return false;
}

// The approximation in a = 4/3 ~ 1.33 is dropped. If both sides have one, they must agree in the
// digits that both have.
bool Comparer::approximations_differ(const Expr& gold, const Expr& answer) {
  const Expr* a = dropped_approximation(gold, options_);
  const Expr* b = dropped_approximation(answer, options_);
  if (a == nullptr || b == nullptr) return false;
  if (!is_scalar(*a) || !is_scalar(*b) || !has_decimal(*a) || !has_decimal(*b)) return false;
  VerifierOptions digits = options_;
  digits.decimals = DecimalRule::kHalfUlp;
  return scalar::equal_scalars(*a, *b, digits, arena_.budget()) == Tri::kNo;
}

// Names and labels before values count only if both sides have them.
void Comparer::strip_assignments(const Expr*& gold, const Expr*& answer) {
  if (!options_.assignment) return;
  if (lists_ == 0 && is_labeled(*gold) != is_labeled(*answer)) {
    gold = without_label(gold);
    answer = without_label(answer);
    return;
  }
  const bool gold_relates = gold->op == Op::kRelation;
  const bool answer_relates = answer->op == Op::kRelation;
  if (gold_relates == answer_relates) return;
  if (answer_relates && gives_value(*answer))
    answer = prepared(answer->args[1]);
  else if (answer_relates && options_.last_of_chain && is_value_chain(*answer))
    answer = prepared(answer->args.back());
  if (!gold_relates) return;
  const Expr* graph = as_graph(*gold, answer, arena_);
  if (gives_value(*gold) && (graph == answer || has_names(*gold->args[1])))
    gold = prepared(gold->args[1]);
  else
    answer = graph;
}

// Compares an inequality with x \in S as with S.
void Comparer::strip_membership(const Expr*& gold, const Expr*& answer) {
  const auto member = [](const Expr& e) {
    return e.op == Op::kRelation && e.relations[0] == Rel::kIn && is_assignment(e);
  };
  if (is_inequality(*gold) && member(*answer) && options_.interval_for_relation)
    answer = answer->args[1];
  else if (is_inequality(*answer) && member(*gold) &&
           free_names(*answer) == free_names(*gold->args[0]))
    gold = gold->args[1];
}

namespace {

bool is_otherwise(const Expr& condition) {
  return condition.op == Op::kText && is_one_of(condition.name, "otherwise", "else", "elsewhere");
}

// Returns the set of reals that the conditions of the other rows leave.
const Expr* rest_of(const Expr& cases, std::size_t row, Arena& arena) {
  std::vector<const Expr*> others;
  for (std::size_t i = 1; i < cases.args.size(); i += 2)
    if (i != row) others.push_back(cases.args[i]);
  const Expr* all = arena.named(Op::kNamedSet, "R");
  return arena.node(Op::kDifference, {all, arena.node(Op::kUnion, std::move(others))});
}

}  // namespace

// Returns whether "otherwise" in one of the rows of a piecewise function means a condition.
Tri Comparer::is_rest(const Expr& cases, std::size_t row, const Expr& condition) {
  if (cases.args.size() == 4 && condition.op == Op::kTuple)
    return is_other_parity(condition, *cases.args[4 - row]);
  if (cases.args.size() < 4 || !is_real_set(condition)) return Tri::kNo;
  const Expr* rest = rest_of(cases, row, arena_);
  if (rest == nullptr) return Tri::kUnknown;
  return is_real_set(*rest) ? equal_real_sets(condition, *rest, arena_, options_) : Tri::kNo;
}

// Compares the rows of piecewise functions, a value and its condition each, in any order.
Tri Comparer::pieces(const Expr& gold, const Expr& answer) {
  std::vector<std::size_t> wanted, found;  // the conditions
  for (std::size_t i = 1; i < gold.args.size(); i += 2) wanted.push_back(i);
  for (std::size_t i = 1; i < answer.args.size(); i += 2) found.push_back(i);
  return all_matched(wanted, std::move(found), [&](std::size_t i, std::size_t k) {
    const Expr &here = *gold.args[i], &there = *answer.args[k];
    const Tri value = element(gold.args[i - 1], answer.args[k - 1]);
    if (value == Tri::kNo) return value;
    if (is_otherwise(here) && !is_otherwise(there)) return both(value, is_rest(gold, i, there));
    if (is_otherwise(there) && !is_otherwise(here)) return both(value, is_rest(answer, k, here));
    return both(value, element(&here, &there));
  });
}

// Compares matrices, cases, unions with names and times: they have the same shape and equal parts.
Tri Comparer::structures(const Expr* gold_tree, const Expr* answer_tree) {
  const Expr &gold = *gold_tree, &answer = *answer_tree;
  if (gold.op != answer.op || gold.columns != answer.columns ||
      gold.args.size() != answer.args.size() || gold.name != answer.name)
    return Tri::kNo;
  if (gold.op == Op::kUnion || gold.op == Op::kIntersection) return in_any_order(gold, answer);
  if (gold.op == Op::kCases && gold.columns == 2) return pieces(gold, answer);
  return in_order(gold, answer);
}

namespace {

Tri compare_as_named(const Expr* gold, const Expr* answer, Arena& arena,
                     const VerifierOptions& options) {
  answer = match_names(gold, answer, arena, options);
  if (answer == nullptr) return Tri::kUnknown;
  const Pair pair = with_declaration_understood({gold, answer}, arena);
  if (pair.gold == nullptr || pair.answer == nullptr) return Tri::kUnknown;
  return Comparer(arena, options).equal(pair.gold, pair.answer);
}

}  // namespace

Tri compare(const Expr* gold, const Expr* answer, Arena& arena, const VerifierOptions& options) {
  const Tri out = compare_as_named(gold, answer, arena, options);
  if (out == Tri::kYes || gold == nullptr || answer == nullptr) return out;
  for (const Expr* other : with_constants_exchanged(*gold, *answer, arena))
    if (compare_as_named(gold, other, arena, options) == Tri::kYes) return Tri::kYes;
  return out;
}

}  // namespace lie::equal
