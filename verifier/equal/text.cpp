#include <algorithm>
#include <string>
#include <vector>

#include "verifier/equal/parts.h"

#include "verifier/latex/text.h"

namespace lie::equal {
namespace {

using expr::Expr, expr::Op;

// Returns the letters of words or of a product of names, and nothing for anything else.
std::string letters(const Expr& e) {
  switch (e.op) {
    case Op::kText:
    case Op::kSymbol:
    case Op::kConstant: return latex::normal_text(e.name);
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
  const std::string a = usual(letters(*gold));
  std::string b = usual(letters(*answer));
  // A gold in another order than the usual one is a sequence.
  if (a == sorted_marks(a)) b = sorted_marks(std::move(b));
  return scalar::tri(!a.empty() && a == b);
}

}  // namespace lie::equal
