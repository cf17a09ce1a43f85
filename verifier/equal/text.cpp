#include "verifier/equal/parts.h"

#include "verifier/latex/lexer/token.h"
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

// Returns the usual wording: whole numbers in digits, one of two synonyms, and no "only".
std::string usual(std::string words) {
  constexpr std::string_view kOnly = "only";
  if (words.size() > kOnly.size() && words.ends_with(kOnly))
    words.resize(words.size() - kOnly.size());
  if (words == "dne" || words == "thelimitdoesnotexist") return "doesnotexist";
  const std::optional<int> number = latex::number_in_words(words);
  return number ? std::to_string(*number) : words;
}

}  // namespace

Tri equal_texts(const Expr* gold, const Expr* answer) {
  const std::string a = usual(letters(*gold));
  const std::string b = usual(letters(*answer));
  return scalar::tri(!a.empty() && a == b);
}

}  // namespace lie::equal
