#include "verifier/equal/names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/text/scan.h"
#include "verifier/equal/parameters.h"
#include "verifier/latex/text.h"

namespace lie::equal {
namespace {

using expr::Arena, expr::Expr, expr::Op, expr::Rel;

// Returns whether an equation defines a function that depends on its arguments: f(x) = x^2.
bool is_definition(const Expr& e) {
  if (e.relations != std::vector{Rel::kEqual} || e.args[0]->op != Op::kApply) return false;
  // The derivative dy/dx is no function that is defined.
  const std::string& name = e.args[0]->name;
  if (is_operation(*e.args[0]) || name.find('/') != std::string::npos) return false;
  return std::ranges::all_of(e.args[0]->args, [&](const Expr* argument) {
    return argument->op == Op::kSymbol && is_free_in(*e.args[1], argument->name);
  });
}

// Returns whether an equation is a graph such as y = x^2, which means the same as f(x) = x^2.
bool is_graph(const Expr& e) {
  return e.relations == std::vector{Rel::kEqual} && e.args[0]->op == Op::kSymbol &&
         e.args[0]->name == "y" && !is_free_in(*e.args[1], "y");
}

// Returns the names of an expression that have no meaning outside it.
std::vector<std::string> own_names(const Expr& e) {
  if (e.op == Op::kList) return sole_parameter(e);
  if (e.op == Op::kSetBuilder) return free_names(*e.args[0]);
  return e.op == Op::kRelation && is_definition(e) ? free_names(*e.args[0])
                                                   : std::vector<std::string>{};
}

bool is_constant_name(const std::string& name) {
  if (name.size() == 1) return std::string_view("ABCDKck").find(name) != std::string_view::npos;
  return name.starts_with("C_") || name.starts_with("c_");
}

std::vector<std::string> constant_names(const Expr& e) {
  std::vector<std::string> names = free_names(e);
  std::erase_if(names, [](const std::string& name) { return !is_constant_name(name); });
  return names;
}

// Returns whether the right side of an equation has the constant C, C_1 or c_1.
bool is_general_solution(const Expr& e) {
  if (e.relations != std::vector{Rel::kEqual}) return false;
  return std::ranges::any_of(constant_names(*e.args[1]), [](const std::string& name) {
    return is_one_of(name[0], 'C', 'c') && name != "c";
  });
}

// Returns the answer with the gold's constants of integration in the order of their first use,
// if the answer has other names for all of them.
const Expr* with_constants_of(const Expr& gold, const Expr& answer, Arena& arena) {
  if (!is_general_solution(gold)) return &answer;
  const std::vector<std::string> from = constant_names(answer), to = constant_names(gold);
  const auto is_shared = [&](const auto& name) { return is_free_in(gold, name); };
  if (from.size() != to.size() || std::ranges::any_of(from, is_shared)) return &answer;
  return rename(&answer, from, to, arena);
}

// Returns the formula of the graph y = u^2 with the argument of f(x) = x^2 for its only other name.
// The graph of a name alone, such as y = C, has no argument.
const Expr* with_argument_of(const Expr& gold, const Expr& formula, Arena& arena) {
  if (gold.args[0]->op != Op::kApply || gold.args[0]->args.size() != 1 || formula.op == Op::kSymbol)
    return &formula;
  const std::string here = lone_name(*gold.args[1], formula);
  const std::string there = lone_name(formula, *gold.args[1]);
  const bool fits =
      here == gold.args[0]->args[0]->name && !there.empty() && !is_constant_name(there);
  return fits ? rename(&formula, {there}, {here}, arena) : &formula;
}

}  // namespace

const Expr* with_names_of(const Expr& gold, const Expr& answer, Arena& arena) {
  if (gold.op != answer.op) return &answer;
  if ((is_graph(gold) && is_definition(answer)) || (is_definition(gold) && is_graph(answer))) {
    const Expr* value = with_argument_of(gold, *answer.args[1], arena);
    return arena.make(
        {.op = Op::kRelation, .args = {gold.args[0], value}, .relations = {Rel::kEqual}});
  }
  const std::vector<std::string> from = own_names(answer), to = own_names(gold);
  const auto taken = [&](const std::string& name) {
    return std::ranges::find(from, name) == from.end() && is_free_in(answer, name);
  };
  if (from == to || from.size() != to.size() || std::ranges::any_of(to, taken)) return &answer;
  return rename(&answer, from, to, arena);
}

namespace {

// Returns whether several letters stand side by side, as in AA, mg and AB. Their capitals count.
bool is_word_of_letters(const Expr& e) {
  return e.op == Op::kMul && std::ranges::all_of(e.args, [](const Expr* arg) {
           return arg->op == Op::kSymbol && arg->name.size() == 1;
         });
}

// Adds the names that stand alone: the only name of an answer, of a part of it or of a side of an
// equation, and the constant of integration.
void collect_alone(const Expr& e, std::vector<std::string>& out) {
  if (is_one_of(e.op, Op::kRelation, Op::kList, Op::kSet, Op::kTuple)) {
    for (const Expr* arg : e.args) collect_alone(*arg, out);
    return;
  }
  std::vector<std::string> names = free_names(e);
  if (names.size() == 1) out.push_back(std::move(names[0]));
  if (e.op != Op::kAdd) return;
  for (const Expr* term : e.args)
    if (term->op == Op::kSymbol && lowered(term->name) == "c") out.push_back(term->name);
}

std::vector<std::string> names_alone(const Expr& e) {
  std::vector<std::string> out;
  collect_alone(e, out);
  return out;
}

// Returns whether two names differ only in their capitals. Those of formulas such as CoCl_2 count.
bool same_but_capitals(std::string_view a, std::string_view b) {
  if (lowered(a) != lowered(b)) return false;
  a = a.substr(0, a.find('_'));
  b = b.substr(0, b.find('_'));
  return a.size() == 1 || latex::compared_text(a) == latex::compared_text(b);
}

}  // namespace

const Expr* match_names(const Expr* gold, const Expr* answer, Arena& arena,
                        const VerifierOptions& options) {
  answer = with_constants_of(*gold, *answer, arena);
  if (answer == nullptr) return nullptr;
  const std::vector<std::string> wanted = free_names(*gold);
  std::vector<std::string> from = free_names(*answer);
  if (options.rename_variables && from.size() == wanted.size())
    return rename(answer, from, wanted, arena);
  // The argument a of f(a) is not the same name as A.
  if (!options.ignore_case || gold->has(expr::trait::kCall)) return answer;
  if (is_word_of_letters(*gold)) return answer;
  std::vector<std::string> old_names, new_names;
  const std::vector<std::string> alone = names_alone(*gold);
  for (const std::string& name : names_alone(*answer)) {
    if (std::ranges::find(wanted, name) != wanted.end() || latex::is_greek(name)) continue;
    const auto at = std::ranges::find_if(
        alone, [&](const std::string& other) { return same_but_capitals(other, name); });
    if (at == alone.end() || std::ranges::find(from, *at) != from.end()) continue;
    old_names.push_back(name);
    new_names.push_back(*at);
  }
  return old_names.empty() ? answer : rename(answer, old_names, new_names, arena);
}

std::vector<const Expr*> with_constants_exchanged(const Expr& gold, const Expr& answer,
                                                  Arena& arena) {
  constexpr std::size_t kMostConstants = 3;
  std::vector<std::string> to = constant_names(gold);
  const std::vector<std::string> from = constant_names(answer);
  const auto indexed = [](const std::string& name) { return name.find('_') != name.npos; };
  if (!is_general_solution(gold) || to.size() < 2 || to.size() > kMostConstants ||
      from.size() != to.size() || !std::ranges::all_of(to, indexed))
    return {};
  const auto shared = std::ranges::count_if(
      from, [&](const std::string& name) { return std::ranges::find(to, name) != to.end(); });
  if (shared != 0 && shared != std::ssize(to)) return {};
  std::ranges::sort(to);
  std::vector<const Expr*> out;
  do {
    if (const Expr* renamed = rename(&answer, from, to, arena)) out.push_back(renamed);
  } while (std::ranges::next_permutation(to).found);
  return out;
}

// --- words -------------------------------------------------------------------------------------

namespace {

// Returns the letters of words or of a product of names with their capitals, and nothing for
// anything else.
std::string letters(const Expr& e) {
  switch (e.op) {
    case Op::kText:
    case Op::kSymbol:
    case Op::kConstant: return latex::unit_text(e.name);
    case Op::kCode: return e.name;
    case Op::kNumber: return e.value.text();
    case Op::kUnit: {
      const std::string inner = letters(*e.args[0]);
      return inner.empty() || e.name == "$" ? inner : inner + latex::normal_text(e.name);
    }
    case Op::kList:
    case Op::kMul: {
      std::string out;
      for (const Expr* arg : e.args) {
        const std::string part = letters(*arg);
        if (part.empty()) return {};
        out += part;
      }
      return out;
    }
    default: return {};
  }
}

// Sorts circled digits such as ④②. Returns other texts as they are.
std::string sorted_marks(std::string text) {
  constexpr std::string_view kLead = "\u2460";  // ①, of which all but the last byte are shared
  std::vector<std::string> marks;
  for (std::size_t i = 0; i < text.size(); i += kLead.size()) {
    marks.push_back(text.substr(i, kLead.size()));
    if (!marks.back().starts_with(kLead.substr(0, 2))) return text;
  }
  std::ranges::sort(marks);
  text.clear();
  for (const std::string& mark : marks) text += mark;
  return text;
}

// Returns 23 for ②③, and nothing for other texts.
std::string circled_digits(std::string_view text) {
  constexpr std::array<std::string_view, 9> kDigits = {"①", "②", "③", "④", "⑤", "⑥", "⑦", "⑧", "⑨"};
  std::string out;
  while (!text.empty()) {
    const auto at = std::ranges::find_if(kDigits, [&](auto digit) { return take(text, digit); });
    if (at == kDigits.end()) return {};
    out.push_back(static_cast<char>('1' + (at - kDigits.begin())));
  }
  return out;
}

// Returns the usual wording: one of two synonyms, and no "only".
std::string usual(std::string words) {
  constexpr std::string_view kOnly = "only";
  if (words.size() > kOnly.size() && words.ends_with(kOnly))
    words.resize(words.size() - kOnly.size());
  if (words == "dne" || words == "thelimitdoesnotexist") return "doesnotexist";
  return words;
}

}  // namespace

Tri equal_texts(const Expr* gold, const Expr* answer) {
  const bool code = gold->op == Op::kCode || answer->op == Op::kCode;
  const auto compared = [code](const Expr& e) {
    const std::string text = letters(e);
    return usual(code ? lowered(text) : latex::compared_text(text));
  };
  const std::string a = compared(*gold);
  std::string b = compared(*answer);
  if (const std::string digits = circled_digits(a); !digits.empty() && digits == b)
    return scalar::tri(answer->op == Op::kList || (digits.size() == 1 && is_scalar(*answer)));
  // A gold in another order than the usual one is a sequence.
  if (a == sorted_marks(a)) b = sorted_marks(std::move(b));
  return scalar::tri(!a.empty() && a == b);
}

}  // namespace lie::equal
