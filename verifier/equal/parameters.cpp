#include "verifier/equal/parameters.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/equal/kind.h"
#include "verifier/scalar/point.h"

namespace lie::equal {
namespace {

using expr::Arena, expr::Expr, expr::Op, expr::Rel;

bool declares_integer(const Expr* item) {
  return item->op == Op::kRelation && item->relations[0] == Rel::kIn &&
         item->args[1]->name == "Z" && item->args[0]->op == Op::kSymbol;
}

bool declares_member(const Expr& item) {
  return item.op == Op::kRelation && item.relations[0] == Rel::kIn &&
         item.args[0]->op == Op::kSymbol && item.args[1]->op == Op::kNamedSet;
}

// Returns the set that a list declares for a name: R for k \in \mathbb{R}. Nothing without one.
std::string_view declared_set(const Expr& e, const std::string& name) {
  if (e.op != Op::kList) return {};
  for (const Expr* item : e.args)
    if (declares_member(*item) && item->args[0]->name == name) return item->args[1]->name;
  return {};
}

bool is_argument(const Expr& e, const std::string& name) {
  const auto is_it = [&](const Expr* arg) {
    return (e.op == Op::kApply && is_free_in(*arg, name)) || is_argument(*arg, name);
  };
  return std::ranges::any_of(e.args, is_it);
}

const Expr* without_declaration(const Expr& list, Arena& arena) {
  std::vector<const Expr*> items;
  for (const Expr* item : list.args)
    if (!declares_integer(item)) items.push_back(item);
  return items.size() == 1 ? items.front() : arena.node(Op::kList, std::move(items));
}

// Gives the answer's n the gold's name k, or the other way around, if both are multiples of an
// angle. These two names are usual for a whole number that is not declared.
Pair with_multiple_of(Pair pair, Arena& arena) {
  if (pair.answer == nullptr || !pair.gold->has(expr::trait::kAngle) ||
      !pair.answer->has(expr::trait::kAngle))
    return pair;
  for (const auto& [here, there] : {std::pair("k", "n"), std::pair("n", "k")}) {
    const bool fits = is_free_in(*pair.gold, here) && !is_free_in(*pair.gold, there) &&
                      is_free_in(*pair.answer, there) && !is_free_in(*pair.answer, here);
    if (fits) pair.answer = rename(pair.answer, {there}, {here}, arena);
  }
  return pair;
}

// Returns whether a test holds for a part of a list, or for an expression that is no list.
template <typename Test>
bool any_part(const Expr& e, const Test& test) {
  if (e.op != Op::kList) return test(e);
  return std::ranges::any_of(e.args, [&](const Expr* part) { return test(*part); });
}

// Returns whether an answer is a set of reals or a condition on a name, so that its domain counts:
// x > 0, (-2, 3).
bool restricts(const Expr& e, const std::string& name) {
  return any_part(e, [&](const Expr& part) {
    if (part.op == Op::kRelation) return part.relations[0] != Rel::kEqual && is_free_in(part, name);
    return !is_scalar(part) && is_real_set(part);
  });
}

// Returns whether a value changes with a name. That of x = 3 does not change with x.
bool varies_with(const Expr& e, const std::string& name) {
  return any_part(e, [&](const Expr& part) {
    const bool constant = is_assignment(part) && is_constant(*part.args[1]);
    return !constant && is_free_in(part, name);
  });
}

// Returns whether a name is a parameter of a value: k in f(x) = kx and (k, 2k), but not x in x > 0.
bool is_parameter(const Expr& e, const std::string& name) {
  return any_part(e, [&](const Expr& part) {
    if (part.op != Op::kRelation) return is_free_in(part, name);
    return is_assignment(part) && part.relations[0] == Rel::kEqual &&
           !is_free_in(*part.args[0], name) && is_free_in(*part.args[1], name);
  });
}

// Returns whether every value is a formula of one name: 2k + 1, x = 3k.
bool are_formulas_of(const Expr& e, const std::string& name) {
  return !any_part(e, [&](const Expr& part) {
    const Expr& value = is_assignment(part) ? *part.args[1] : part;
    return free_names(value) != std::vector{name};
  });
}

// Returns whether an answer may leave out that a name is an integer. `bare` is the other answer
// without this declaration.
bool may_be_left_out(const std::string& name, const Expr& bare, const Expr& left_out,
                     bool gold_declares) {
  const bool shared = is_free_in(left_out, name);
  // Another set, as in k \in \mathbb{R}, is no omission.
  if (!declared_set(left_out, shared ? name : lone_name(left_out, bare)).empty()) return false;
  if (restricts(bare, name)) return scalar::is_whole_name(name);
  // Multiples of an angle imply an integer parameter. The formulas x^2 and 2x + 1 are functions.
  if (gold_declares || left_out.has(expr::trait::kAngle) || !varies_with(bare, name)) return true;
  return shared && scalar::is_whole_name(name) && are_formulas_of(bare, name);
}

// Gives the real parameter of an answer the gold's name, if both declare one.
Pair with_real_parameter(Pair pair, Arena& arena) {
  if (pair.gold->op != Op::kList || pair.answer->op != Op::kList) return pair;
  const std::vector<std::string> to = sole_parameter(*pair.gold),
                                 from = sole_parameter(*pair.answer);
  const bool fits = !to.empty() && !from.empty() && declared_set(*pair.gold, to[0]) == "R" &&
                    declared_set(*pair.answer, from[0]) == "R" && is_parameter(*pair.gold, to[0]) &&
                    is_parameter(*pair.answer, from[0]);
  if (fits && !is_free_in(*pair.answer, to[0])) pair.answer = rename(pair.answer, from, to, arena);
  return pair;
}

}  // namespace

std::vector<std::string> sole_parameter(const Expr& list) {
  std::vector<std::string> names;
  for (const Expr* item : list.args)
    if (declares_member(*item)) names.push_back(item->args[0]->name);
  return names.size() == 1 ? names : std::vector<std::string>{};
}

std::string lone_name(const Expr& e, const Expr& other) {
  std::string lone;
  for (const std::string& name : free_names(e)) {
    if (is_free_in(other, name)) continue;
    if (!lone.empty()) return {};
    lone = name;
  }
  return lone;
}

Pair with_declaration_understood(Pair pair, Arena& arena) {
  const auto parameter = [](const Expr& e) {
    const bool list = e.op == Op::kList && std::ranges::any_of(e.args, declares_integer);
    return list ? sole_parameter(e) : std::vector<std::string>{};
  };
  const std::vector<std::string> of_gold = parameter(*pair.gold),
                                 of_answer = parameter(*pair.answer);
  if (of_gold.empty() && of_answer.empty())
    return with_multiple_of(with_real_parameter(pair, arena), arena);
  if (of_gold.empty() == of_answer.empty()) return pair;
  const bool gold_declares = of_answer.empty();
  const Expr*& said = gold_declares ? pair.gold : pair.answer;
  const Expr* left_out = gold_declares ? pair.answer : pair.gold;
  const std::string name = (gold_declares ? of_gold : of_answer).front();
  // The statement "f(t) = 0 for integers t" is weaker than f(t) = 0.
  if (is_argument(*said, name)) return pair;
  const Expr* bare = without_declaration(*said, arena);
  // A name on its own would fit every other name.
  if (bare != nullptr && bare->op == Op::kSymbol) return pair;
  if (bare != nullptr && !may_be_left_out(name, *bare, *left_out, gold_declares)) return pair;
  said = bare;
  if (said == nullptr || is_free_in(*left_out, name)) return pair;
  if (!gold_declares && !left_out->has(expr::trait::kAngle)) return pair;
  const std::string other = lone_name(*left_out, *said);
  if (other.empty()) return pair;
  pair.answer = gold_declares ? rename(pair.answer, {other}, {name}, arena)
                              : rename(pair.answer, {name}, {other}, arena);
  return pair;
}

}  // namespace lie::equal
