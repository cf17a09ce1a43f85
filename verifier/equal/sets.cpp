#include "verifier/equal/sets.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace lie::equal {
namespace {

using exact::Rational, expr::Arena, expr::Expr, expr::Op, expr::Rel, scalar::compare_reals,
    scalar::tri;

constexpr std::size_t kMostEndPoints = 64;

// Returns the first call of an unknown function, or nullptr.
const Expr* unknown_call(const Expr& e) {
  if (!e.has(expr::trait::kCall)) return nullptr;
  if (e.op == Op::kApply) return &e;
  for (const Expr* arg : e.args)
    if (const Expr* call = unknown_call(*arg)) return call;
  return nullptr;
}

class Sets {
 public:
  Sets(Arena& arena, const VerifierOptions& options) : arena_(arena), options_(options) {}

  Tri equal(const Expr& gold, const Expr& answer) {
    if (!collect(gold) || !collect(answer) || !order()) return Tri::kUnknown;
    if (holds_point(gold) || holds_point(answer)) return Tri::kNo;
    const Expr* here = unknown_call(gold);
    const Expr* there = unknown_call(answer);
    if (here != nullptr && there != nullptr && to_text(*here) != to_text(*there)) return Tri::kNo;
    // f(x) > 0 bounds the values and x > 0 the arguments.
    const bool both = gold.op == Op::kRelation && answer.op == Op::kRelation;
    if (both && (here == nullptr) != (there == nullptr)) return Tri::kNo;
    if (holds_infinity(gold) != holds_infinity(answer)) return Tri::kNo;
    Tri out = Tri::kYes;
    for (const Expr* probe : probes()) {
      if (probe == nullptr) return Tri::kUnknown;
      in_answer_ = false;
      const Tri in_gold = contains(gold, probe);
      in_answer_ = true;
      const Tri in_answer = contains(answer, probe);
      if (in_gold == Tri::kUnknown || in_answer == Tri::kUnknown)
        out = Tri::kUnknown;
      else if (in_gold != in_answer)
        return Tri::kNo;
    }
    return out;
  }

 private:
  Budget& budget() { return arena_.budget(); }

  // Returns whether a pair can only be a point: (3, 0) and (1, 1) are no intervals.
  bool holds_point(const Expr& e) {
    if (e.op == Op::kTuple) {
      const int order = compare_reals(*e.args[0], *e.args[1], options_, budget());
      return order == 1 || (order == 0 && (e.open == '(' || e.close == ')'));
    }
    return e.op != Op::kRelation && !is_scalar(e) &&
           std::ranges::any_of(e.args, [this](const Expr* arg) { return holds_point(*arg); });
  }

  // Returns whether an interval includes infinity, as on the extended line: (0, oo].
  static bool holds_infinity(const Expr& e) {
    if (e.op == Op::kTuple && ((e.open == '[' && infinity_sign(*e.args[0]) != 0) ||
                               (e.close == ']' && infinity_sign(*e.args[1]) != 0)))
      return true;
    return any_arg(e, holds_infinity);
  }

  bool add_end(const Expr* e) {
    if (e == nullptr) return false;
    if (infinity_sign(*e) == 0) ends_.push_back(e);
    return ends_.size() <= kMostEndPoints;
  }

  // Collects every constant at which membership may change.
  bool collect(const Expr& e) {
    if (e.op == Op::kTuple || e.op == Op::kSet || e.op == Op::kList || e.op == Op::kUnion ||
        e.op == Op::kIntersection || e.op == Op::kDifference || e.op == Op::kRelation ||
        e.op == Op::kSetBuilder) {
      return std::ranges::all_of(e.args, [this](const Expr* arg) { return collect(*arg); });
    }
    if (!is_constant(e)) return true;
    // The condition |z| < c changes at -c as well.
    return add_end(&e) && add_end(arena_.negate(&e));
  }

  bool order() {
    // Insertion tolerates an undecided order, which a library sort does not.
    std::vector<const Expr*> sorted;
    for (const Expr* end : ends_) {
      std::size_t at = 0;
      int order = -1;
      for (; at < sorted.size(); ++at) {
        order = compare_reals(*end, *sorted[at], options_, budget());
        if (order == 2 || budget().exhausted()) return false;
        if (order <= 0) break;
      }
      if (at == sorted.size() || order != 0)
        sorted.insert(sorted.begin() + static_cast<std::ptrdiff_t>(at), end);
    }
    ends_ = std::move(sorted);
    return true;
  }

  // Returns the end points, and points between and beyond them.
  const std::vector<const Expr*>& probes() {
    if (probes_.empty()) probes_ = drawn_probes();
    return probes_;
  }

  std::vector<const Expr*> drawn_probes() {
    std::vector<const Expr*> out = ends_;
    if (ends_.empty()) return {arena_.number(0), arena_.number(5), arena_.number(-7)};
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i)
      for (const int weight : {1, 2'900'000, 9'999'999})
        out.push_back(between(ends_[i], ends_[i + 1], weight));
    for (const int step : {1, 1000}) {
      out.push_back(arena_.add({ends_.front(), arena_.number(-step)}));
      out.push_back(arena_.add({ends_.back(), arena_.number(step)}));
    }
    return out;
  }

  const Expr* between(const Expr* a, const Expr* b, int weight) {
    constexpr int kWhole = 10'000'000;
    return arena_.add({arena_.mul({arena_.number(Rational(weight, kWhole)), a}),
                       arena_.mul({arena_.number(Rational(kWhole - weight, kWhole)), b})});
  }

  Tri any(const std::vector<const Expr*>& parts, const Expr* point) {
    Tri out = Tri::kNo;
    for (const Expr* part : parts) {
      const Tri here = contains(*part, point);
      if (here == Tri::kYes) return Tri::kYes;
      if (here == Tri::kUnknown) out = Tri::kUnknown;
    }
    return out;
  }

  // Returns whether all conditions of a list hold together. Without "or" they do, unless nothing
  // would satisfy them, as for the solutions x < 1, x > 3. The "and" of an answer is always strict.
  bool is_conjunction(const Expr& list) {
    if (in_answer_ && list.open == '&') return true;
    if (list.flag || std::ranges::find(list.args, Op::kRelation, &Expr::op) == list.args.end())
      return false;
    const auto [at, fresh] = conjunctions_.try_emplace(&list, false);
    if (fresh)
      at->second = std::ranges::any_of(
          probes(), [&](const Expr* probe) { return probe && all(list.args, probe) == Tri::kYes; });
    return at->second;
  }

  Tri all(const std::vector<const Expr*>& parts, const Expr* point) {
    Tri out = Tri::kYes;
    for (const Expr* part : parts) out = both(out, contains(*part, point));
    return out;
  }

  static Tri negation(Tri a) { return a == Tri::kUnknown ? a : tri(a == Tri::kNo); }

  Tri contains(const Expr& set, const Expr* point) {
    switch (set.op) {
      case Op::kTuple: return in_interval(set, point);
      case Op::kSet:
      case Op::kList: return is_conjunction(set) ? all(set.args, point) : any(set.args, point);
      case Op::kUnion: return any(set.args, point);
      case Op::kIntersection:
        return both(contains(*set.args[0], point), contains(*set.args[1], point));
      case Op::kDifference:
        return both(contains(*set.args[0], point), negation(contains(*set.args[1], point)));
      case Op::kNamedSet: return tri(set.name == "R");
      case Op::kSetBuilder: return all({set.args.begin() + 1, set.args.end()}, point);
      case Op::kRelation: return satisfies(set, point);
      default: {
        const int order = compare_reals(set, *point, options_, budget());
        return order == 2 ? Tri::kUnknown : tri(order == 0);
      }
    }
  }

  Tri in_interval(const Expr& interval, const Expr* point) {
    const int low = compare_reals(*interval.args[0], *point, options_, budget());
    const int high = compare_reals(*point, *interval.args[1], options_, budget());
    if (low == 2 || high == 2) return Tri::kUnknown;
    const bool above = low == -1 || (low == 0 && interval.open == '[');
    const bool below = high == -1 || (high == 0 && interval.close == ']');
    return tri(above && below);
  }

  // Returns the side of a relation with its name replaced by the point. An unknown call becomes the
  // point.
  const Expr* at(const Expr* side, const std::vector<std::string>& names, const Expr* point) {
    if (side->op == Op::kApply) return point;
    return names.empty() ? side : substitute(side, names.front(), point, arena_);
  }

  Tri satisfies(const Expr& relation, const Expr* point) {
    if (relation.relations[0] == Rel::kIn) return contains(*relation.args[1], point);
    const bool calls =
        std::ranges::any_of(relation.args, [](const Expr* arg) { return arg->op == Op::kApply; });
    const std::vector<std::string> names =
        calls ? std::vector<std::string>{} : free_names(relation);
    for (std::size_t i = 0; i < relation.relations.size(); ++i) {
      const Expr* left = at(relation.args[i], names, point);
      const Expr* right = at(relation.args[i + 1], names, point);
      if (left == nullptr || right == nullptr) return Tri::kUnknown;
      const int order = compare_reals(*left, *right, options_, budget());
      if (order == 2) return Tri::kUnknown;
      if (!holds(relation.relations[i], order)) return Tri::kNo;
    }
    return Tri::kYes;
  }

  static bool holds(Rel rel, int order) {
    switch (rel) {
      case Rel::kLess: return order < 0;
      case Rel::kLessEqual: return order <= 0;
      case Rel::kGreater: return order > 0;
      case Rel::kGreaterEqual: return order >= 0;
      case Rel::kNotEqual: return order != 0;
      default: return order == 0;
    }
  }

  Arena& arena_;
  const VerifierOptions& options_;
  std::vector<const Expr*> ends_;
  std::vector<const Expr*> probes_;
  bool in_answer_ = false;
  std::map<const Expr*, bool> conjunctions_;
};

}  // namespace

Tri equal_real_sets(const Expr& gold, const Expr& answer, Arena& arena,
                    const VerifierOptions& options) {
  return Sets(arena, options).equal(gold, answer);
}

}  // namespace lie::equal
