// Compares lists, sets and tuples, and equations, inequalities and chains of them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/text/scan.h"
#include "verifier/equal/comparer.h"
#include "verifier/equal/kind.h"
#include "verifier/equal/sets.h"
#include "verifier/equal/units.h"
#include "verifier/latex/remarks.h"

namespace lie::equal {
namespace {

// Returns the choices A, C as one word, "AC", and nothing for anything else.
std::string choices(const Expr& e) {
  if (!is_one_of(e.op, Op::kList, Op::kSet, Op::kMul)) return {};
  std::string letters;
  for (const Expr* part : e.args) {
    const std::string& name = part->name;
    const bool choice = is_one_of(part->op, Op::kSymbol, Op::kText) && name.size() == 1 &&
                        (part->op == Op::kText || (name[0] >= 'A' && name[0] <= 'J'));
    if (!choice || (!letters.empty() && letters.back() >= to_upper(name[0]))) return {};
    letters.push_back(to_upper(name[0]));
  }
  return letters;
}

// Returns whether a list holds only letters, which may be propositions: p and q.
bool are_statements(const Expr& list) {
  return list.op == Op::kList && std::ranges::all_of(list.args, [](const Expr* item) {
           return item->op == Op::kSymbol || (item->op == Op::kText && item->name.size() == 1);
         });
}

bool says_or(const Expr& list) { return list.flag; }
bool says_and(const Expr& list) { return !list.flag && list.open == '&'; }

// Returns what a relation is about, besides which other relations may hold: its only name, or the
// modulus of a congruence. Nothing for other parts, such as the equations of lines.
std::string topic(const Expr& part) {
  if (part.op == Op::kTuple && part.open == 0) return to_text(*part.args[1]);
  const std::vector<std::string> names = free_names(part);
  return part.op == Op::kRelation && names.size() == 1 ? names[0] : std::string();
}

// Returns whether the parts of a list may hold together, so that "and" differs from "or": a = 0,
// b = 0, but not x = 1, x = 2.
bool may_hold_together(const Expr& list) {
  if (list.op != Op::kList) return false;
  std::vector<std::string> topics;
  for (const Expr* part : list.args) topics.push_back(topic(*part));
  return std::ranges::find(topics, "") == topics.end() &&
         std::ranges::any_of(topics, [&](const auto& other) { return other != topics[0]; });
}

// Returns whether one list says "and" and the other "or". Elsewhere commas and words may mean
// either.
bool join_otherwise(const Expr& gold, const Expr& answer) {
  if (gold.close != 0 && answer.close != 0 && gold.close != answer.close) return true;
  const bool differ = (says_or(gold) && says_and(answer)) || (says_and(gold) && says_or(answer));
  return differ && ((are_statements(gold) && are_statements(answer)) ||
                    (may_hold_together(gold) && may_hold_together(answer)));
}

// Returns whether a relation puts at least three names in order: b < a < d.
bool is_order_of_names(const Expr& e) {
  const auto is = [&](expr::Rel rel) {
    return std::ranges::all_of(e.relations, [rel](expr::Rel other) { return other == rel; });
  };
  return e.op == Op::kRelation && e.args.size() > 2 &&
         (is(expr::Rel::kLess) || is(expr::Rel::kGreater)) &&
         std::ranges::all_of(e.args, [](const Expr* arg) { return arg->op == Op::kSymbol; });
}

// Sorts equations such as y = 2, x = 12 by their letters, as the coordinates of a point. Returns
// other lists as they are, and nullptr if the arena is full.
const Expr* sorted_by_names(const Expr* list, Arena& arena) {
  const auto letter = [](const Expr* item) {
    return is_assignment(*item) && item->args[0]->op == Op::kSymbol &&
           item->args[0]->name.size() == 1;
  };
  if (!is_one_of(list->op, Op::kList, Op::kTuple) || !std::ranges::all_of(list->args, letter))
    return list;
  Expr sorted = *list;
  std::ranges::stable_sort(sorted.args, {}, [](const Expr* item) { return item->args[0]->name; });
  return arena.make(std::move(sorted));
}

// Returns whether a part is a truth value: yes, no, true, false, T, F.
bool is_truth_value(const Expr* part) {
  if (part->op == Op::kSymbol) return is_one_of(part->name, "T", "F");
  const std::string word = part->op == Op::kText ? lowered(part->name) : "";
  return is_one_of(word, "yes", "no", "true", "false", "t", "f");
}

// Returns whether a list answers several questions by truth values, so that their order and number
// count.
bool are_truth_values(const Expr& list) {
  return list.op == Op::kList && std::ranges::all_of(list.args, is_truth_value);
}

// Returns whether the parts of a list are the values of different names: x = 2, y = 3. The names of
// roots, x_1 = 2, x_2 = 3, give no order.
bool name_their_values(const Expr& list) {
  std::vector<std::string> names;
  for (const Expr* part : list.args) {
    if (!is_assignment(*part) || part->relations[0] != expr::Rel::kEqual) return false;
    const Expr& name = *part->args[0];
    names.push_back(name.op == Op::kSymbol ? name.name.substr(0, name.name.find('_'))
                                           : to_text(name));
  }
  std::ranges::sort(names);
  return list.op == Op::kList && std::ranges::adjacent_find(names) == names.end();
}

bool has_equation(const Expr& list) {
  return std::ranges::find(list.args, Op::kRelation, &Expr::op) != list.args.end();
}

// Returns whether only one of two lists names its values.
bool only_one_names(const Expr& gold, const Expr& answer) {
  if (gold.op != Op::kList || answer.op != Op::kList) return false;
  return (name_their_values(gold) && !has_equation(answer)) ||
         (name_their_values(answer) && !has_equation(gold));
}

// Returns the equations of a list in the order of their left sides.
const Expr* ordered_by_names(const Expr* list, Arena& arena) {
  if (!has_equation(*list)) return list;
  Expr sorted = *list;
  std::ranges::stable_sort(sorted.args, {},
                           [](const Expr* part) { return to_text(*part->args[0]); });
  return arena.make(std::move(sorted));
}

}  // namespace

bool is_labeled(const Expr& part) {
  if (!is_one_of(part.op, Op::kRatio, Op::kMul) || part.args[0]->op != Op::kText) return false;
  const std::string_view label = part.args[0]->name;
  if (!latex::only_labels(label)) return false;
  if (part.op == Op::kRatio) return part.args.size() == 2;
  return label.ends_with(':') && std::ranges::count(part.args, Op::kText, &Expr::op) == 1;
}

const Expr* Comparer::without_label(const Expr* part) {
  return is_labeled(*part) ? arena_.mul({part->args.begin() + 1, part->args.end()}) : part;
}

Tri Comparer::lists(const Expr* gold, const Expr* answer) {
  if (join_otherwise(*gold, *answer)) return Tri::kNo;
  const auto labeled = [](const Expr* part) { return is_labeled(*part); };
  if (std::ranges::all_of(answer->args, labeled) && std::ranges::none_of(gold->args, labeled) &&
      gold->op == Op::kList && answer->op == Op::kList) {
    // Labels such as "Smallest: 2, largest: 7" give an order.
    answer = map_args(answer, arena_, [this](const Expr* part) { return without_label(part); });
    if (answer == nullptr) return Tri::kUnknown;
    return gold->args.size() == answer->args.size() ? in_order(*gold, *answer) : Tri::kNo;
  }
  const bool same_size = gold->args.size() == answer->args.size();
  if (are_truth_values(*gold) && are_truth_values(*answer))
    return same_size ? in_order(*gold, *answer) : Tri::kNo;
  if (!same_size) {
    if (!options_.unordered_lists) return Tri::kNo;
    const std::size_t before = gold->args.size() + answer->args.size();
    gold = distinct(gold);
    answer = distinct(answer);
    if (gold == nullptr || answer == nullptr) return Tri::kUnknown;
    return gold->args.size() + answer->args.size() == before ? Tri::kNo : lists(gold, answer);
  }
  if (only_one_names(*gold, *answer)) return in_named_order(gold, answer);
  return options_.unordered_lists ? in_any_order(*gold, *answer) : in_order(*gold, *answer);
}

// Compares x = 2, y = 3 with 2, 3. The values come as written, or in the order of their names.
Tri Comparer::in_named_order(const Expr* gold, const Expr* answer) {
  const Tri as_written = in_order(*gold, *answer);
  if (as_written == Tri::kYes || !options_.unordered_lists) return as_written;
  gold = ordered_by_names(gold, arena_);
  answer = ordered_by_names(answer, arena_);
  return gold == nullptr || answer == nullptr ? Tri::kUnknown : in_order(*gold, *answer);
}

// A list without brackets may give the parts of a tuple in their order. A set in braces has no
// order.
Tri Comparer::tuple_and_list(const Expr* gold, const Expr* answer) {
  const Expr& tuple = gold->op == Op::kTuple ? *gold : *answer;
  const Expr& list = gold->op == Op::kTuple ? *answer : *gold;
  const bool round = tuple.open == '(' && tuple.close == ')';
  const bool pair = tuple.args.size() == 2;
  if (!options_.list_is_tuple || tuple.args.size() != list.args.size()) return Tri::kNo;
  if (list.op == Op::kSet || (pair && !round)) return Tri::kNo;
  if (says_or(list) && may_hold_together(list)) return Tri::kNo;
  gold = sorted_by_names(gold, arena_);
  answer = sorted_by_names(answer, arena_);
  return gold == nullptr || answer == nullptr ? Tri::kUnknown : in_order(*gold, *answer);
}

// Compares one value with a list, which may repeat it: 15 39/40, 639/40.
Tri Comparer::one_value(const Expr* gold, const Expr* answer) {
  const Expr*& list = is_one_of(gold->op, Op::kList, Op::kSet) ? gold : answer;
  if (!options_.unordered_lists) return Tri::kNo;
  const std::string chosen = choices(*gold);
  if (!chosen.empty() && chosen == choices(*answer)) return Tri::kYes;
  if (is_order_of_names(*gold) && answer->op == Op::kList &&
      gold->args.size() == answer->args.size())
    return in_order(*gold, *answer);
  if (const Expr* sum = joined_quantities(*list, arena_)) {
    list = sum;
    return equal(gold, answer);
  }
  list = distinct(list);
  if (list == nullptr) return Tri::kUnknown;
  if (list->args.size() != 1) return Tri::kNo;
  list = list->args.front();
  return equal(gold, answer);
}

// Returns the list without repeated elements.
const Expr* Comparer::distinct(const Expr* list) {
  std::vector<const Expr*> items;
  for (const Expr* item : list->args) {
    const auto same = [&](const Expr* earlier) { return equal(earlier, item) == Tri::kYes; };
    if (std::ranges::none_of(items, same)) items.push_back(item);
  }
  return arena_.node(list->op, std::move(items));
}

// A tuple of two may be an interval, so its brackets count. Longer ones may have round or square
// brackets, but not one of each.
Tri Comparer::tuples(const Expr* gold_tuple, const Expr* answer_tuple) {
  gold_tuple = sorted_by_names(gold_tuple, arena_);
  answer_tuple = sorted_by_names(answer_tuple, arena_);
  if (gold_tuple == nullptr || answer_tuple == nullptr) return Tri::kUnknown;
  const Expr &gold = *gold_tuple, &answer = *answer_tuple;
  if (gold.args.size() != answer.args.size()) return Tri::kNo;
  const bool same = gold.open == answer.open && gold.close == answer.close;
  if (gold.args.size() == 2 && !same) return Tri::kNo;
  const auto mixed = [](const Expr& e) { return (e.open == '[') != (e.close == ']'); };
  if (!same && (mixed(gold) || mixed(answer))) return Tri::kNo;
  return in_order(gold, answer);
}

Tri Comparer::element(const Expr* gold, const Expr* answer) {
  const bool named = gold->op == Op::kRelation || answer->op == Op::kRelation;
  if (named && !options_.names_in_lists && gold->op != answer->op) return Tri::kNo;
  ++lists_;
  const Tri out = equal(gold, answer);
  --lists_;
  return out;
}

Tri Comparer::in_order(const Expr& gold, const Expr& answer) {
  Tri out = Tri::kYes;
  for (std::size_t i = 0; i < gold.args.size() && out != Tri::kNo; ++i)
    out = both(out, element(gold.args[i], answer.args[i]));
  return out;
}

Tri Comparer::in_any_order(const Expr& gold, const Expr& answer) {
  return all_matched(gold.args, answer.args,
                     [this](const Expr* a, const Expr* b) { return element(a, b); });
}

// --- relations -------------------------------------------------------------------------------

namespace {

using expr::Rel;

struct Link {
  const Expr* left = nullptr;
  Rel rel = Rel::kEqual;
  const Expr* right = nullptr;
};

bool is_symmetric(Rel rel) {
  return is_one_of(rel, Rel::kEqual, Rel::kNotEqual, Rel::kParallel, Rel::kPerpendicular,
                   Rel::kSimilar, Rel::kCongruent, Rel::kEquivalent, Rel::kApprox, Rel::kIff);
}

// Rewrites a > b as b < a, and a superset b as b subset a.
Link oriented(Link link) {
  const Rel rel = link.rel;
  const bool names = link.left->op == Op::kSymbol && link.right->op == Op::kSymbol;
  if (rel == Rel::kIn && !names) return {link.left, Rel::kEqual, link.right};
  if (rel == Rel::kGreater) return {link.right, Rel::kLess, link.left};
  if (rel == Rel::kGreaterEqual) return {link.right, Rel::kLessEqual, link.left};
  if (rel == Rel::kSuperset) return {link.right, Rel::kSubset, link.left};
  return link;
}

std::vector<Link> links(const Expr& relation) {
  std::vector<Link> out;
  for (std::size_t i = 0; i < relation.relations.size(); ++i)
    out.push_back(oriented({relation.args[i], relation.relations[i], relation.args[i + 1]}));
  return out;
}

bool sides_are_scalar(const Link& link) { return is_scalar(*link.left) && is_scalar(*link.right); }

// Multiplies a sum by the denominators of its terms: y = 3/x means xy = 3.
const Expr* without_denominators(const Expr* sum, Arena& arena) {
  std::vector<const Expr*> factors = {sum};
  const auto collect = [&](const Expr* factor) {
    const bool below = factor->op == Op::kPow && has_names(*factor->args[0]) &&
                       factor->args[1]->op == Op::kNumber && factor->args[1]->value.sign() < 0;
    const Expr* inverse =
        below ? arena.power(factor->args[0], arena.negate(factor->args[1])) : nullptr;
    if (inverse != nullptr && std::ranges::none_of(factors, [&](const Expr* other) {
          return same_tree(*other, *inverse);
        }))
      factors.push_back(inverse);
  };
  for (const Expr* term : sum->args) {
    collect(term);
    if (term->op == Op::kMul) std::ranges::for_each(term->args, collect);
  }
  return arena.mul(std::move(factors));
}

// Compares left - right of both up to a factor. Differences without names would all be
// proportional.
Tri scaled(const Link& gold, const Link& answer, bool order, Arena& arena) {
  const Expr* a = arena.add({gold.left, arena.negate(gold.right)});
  const Expr* b = arena.add({answer.left, arena.negate(answer.right)});
  if (a == nullptr || b == nullptr) return Tri::kUnknown;
  if (!has_names(*a) || !has_names(*b) || !units_inside_agree(*a, *b)) return Tri::kNo;
  const Tri out = scalar::proportional(*a, *b, order, arena.budget());
  if (out == Tri::kYes || gold.rel != Rel::kEqual) return out;
  a = without_denominators(a, arena);
  b = without_denominators(b, arena);
  if (a == nullptr || b == nullptr) return Tri::kUnknown;
  return scalar::proportional(*a, *b, order, arena.budget());
}

// Compares two links. equal(gold, answer) compares their sides.
template <typename Equal>
Tri equal_links(const Link& gold, const Link& answer, Arena& arena, const Equal& equal) {
  if (gold.rel != answer.rel) return Tri::kNo;
  const Tri direct = both(equal(gold.left, answer.left), equal(gold.right, answer.right));
  if (direct == Tri::kYes) return direct;
  if (is_symmetric(gold.rel) &&
      both(equal(gold.left, answer.right), equal(gold.right, answer.left)) == Tri::kYes)
    return Tri::kYes;
  const bool order = gold.rel == Rel::kLess || gold.rel == Rel::kLessEqual;
  if (!order && gold.rel != Rel::kEqual && gold.rel != Rel::kNotEqual) return direct;
  if (!sides_are_scalar(gold) || !sides_are_scalar(answer)) return direct;
  return scaled(gold, answer, order, arena);
}

}  // namespace

bool is_solved(const Expr& e) {
  return std::ranges::all_of(e.args, [](const Expr* arg) {
    const bool holds_relations =
        is_one_of(arg->op, Op::kRelation, Op::kSetBuilder, Op::kUnion, Op::kIntersection);
    // The sides |x| and 1/x still have to be solved.
    return holds_relations
               ? is_solved(*arg)
               : !has_names(*arg) || is_one_of(arg->op, Op::kSymbol, Op::kApply, Op::kText);
  });
}

Tri Comparer::relations(const Expr* gold, const Expr* answer) {
  const auto same = [&](const Link& a, const Link& b) {
    return equal_links(a, b, arena_, [this](const Expr* x, const Expr* y) { return equal(x, y); });
  };
  const std::vector<Link> wanted = links(*gold);
  std::vector<Link> found = links(*answer);
  return wanted.size() == found.size() ? all_matched(wanted, std::move(found), same) : Tri::kNo;
}

// Two relations are compared link by link, and as the sets that they describe. An inequality that
// is not solved may be the question, so one side must be solved.
Tri Comparer::inequalities(const Expr* gold, const Expr* answer) {
  if (gold->op == Op::kRelation && answer->op == Op::kRelation) {
    const Tri out = relations(gold, answer);
    if (out == Tri::kYes || !(is_solved(*gold) || is_solved(*answer))) return out;
  }
  if (free_names(*gold) != free_names(*answer) || !units_inside_agree(*gold, *answer))
    return Tri::kNo;
  return equal_real_sets(*gold, *answer, arena_, options_);
}

}  // namespace lie::equal
