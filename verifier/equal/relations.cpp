// Compares equations, inequalities, and chains of them.
#include <algorithm>
#include <utility>
#include <vector>

#include "verifier/equal/comparer.h"

namespace lie::equal {
namespace {

using expr::Rel;

struct Link {
  const Expr* left = nullptr;
  Rel rel = Rel::kEqual;
  const Expr* right = nullptr;
};

bool is_symmetric(Rel rel) {
  return is_one_of(rel, Rel::kEqual, Rel::kNotEqual, Rel::kParallel, Rel::kPerpendicular,
                   Rel::kSimilar, Rel::kCongruent, Rel::kEquivalent, Rel::kApprox);
}

// Rewrites a > b as b < a, and a superset b as b subset a.
Link oriented(Link link) {
  const Rel rel = link.rel;
  if (rel == Rel::kIn) return {link.left, Rel::kEqual, link.right};
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

class Relations {
 public:
  Relations(Arena& arena, Comparer& comparer) : arena_(arena), comparer_(comparer) {}

  Tri link(const Link& gold, const Link& answer) {
    if (gold.rel != answer.rel) return Tri::kNo;
    const Tri direct = both(equal(gold.left, answer.left), equal(gold.right, answer.right));
    if (direct == Tri::kYes) return direct;
    if (is_symmetric(gold.rel) &&
        both(equal(gold.left, answer.right), equal(gold.right, answer.left)) == Tri::kYes)
      return Tri::kYes;
    const bool order = gold.rel == Rel::kLess || gold.rel == Rel::kLessEqual;
    if (!order && gold.rel != Rel::kEqual && gold.rel != Rel::kNotEqual) return direct;
    if (!sides_are_scalar(gold) || !sides_are_scalar(answer)) return direct;
    return scaled(gold, answer, order);
  }

 private:
  Tri equal(const Expr* gold, const Expr* answer) { return comparer_.equal(gold, answer); }

  // Compares left - right of both up to a factor. Differences without names would all be
  // proportional.
  Tri scaled(const Link& gold, const Link& answer, bool order) {
    const Expr* a = arena_.add({gold.left, arena_.negate(gold.right)});
    const Expr* b = arena_.add({answer.left, arena_.negate(answer.right)});
    if (a == nullptr || b == nullptr) return Tri::kUnknown;
    if (!has_names(*a) || !has_names(*b)) return Tri::kNo;
    const Tri out = scalar::proportional(*a, *b, order, arena_.budget());
    if (out == Tri::kYes || gold.rel != Rel::kEqual) return out;
    a = without_denominators(a);
    b = without_denominators(b);
    if (a == nullptr || b == nullptr) return Tri::kUnknown;
    return scalar::proportional(*a, *b, order, arena_.budget());
  }

  // Multiplies a sum by the denominators of its terms: y = 3/x means xy = 3.
  const Expr* without_denominators(const Expr* sum) {
    std::vector<const Expr*> factors = {sum};
    const auto collect = [&](const Expr* factor) {
      const bool below = factor->op == Op::kPow && has_names(*factor->args[0]) &&
                         factor->args[1]->op == Op::kNumber && factor->args[1]->value.sign() < 0;
      const Expr* inverse =
          below ? arena_.power(factor->args[0], arena_.negate(factor->args[1])) : nullptr;
      if (inverse != nullptr && std::ranges::none_of(factors, [&](const Expr* other) {
            return same_tree(*other, *inverse);
          }))
        factors.push_back(inverse);
    };
    for (const Expr* term : sum->args) {
      collect(term);
      if (term->op == Op::kMul) std::ranges::for_each(term->args, collect);
    }
    return arena_.mul(std::move(factors));
  }

  Arena& arena_;
  Comparer& comparer_;
};

}  // namespace

bool is_solved(const Expr& e) {
  return std::ranges::all_of(e.args, [](const Expr* arg) {
    const bool holds_relations =
        is_one_of(arg->op, Op::kRelation, Op::kSetBuilder, Op::kUnion, Op::kIntersection);
    return holds_relations ? is_solved(*arg) : !has_names(*arg) || is_name(*arg);
  });
}

Tri Comparer::relations(const Expr* gold, const Expr* answer) {
  const auto same = [relations = Relations(arena_, *this)](const Link& a, const Link& b) mutable {
    return relations.link(a, b);
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
  if (free_names(*gold) != free_names(*answer)) return Tri::kNo;
  return equal_real_sets(*gold, *answer, arena_, options_);
}

}  // namespace lie::equal
