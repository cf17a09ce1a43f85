#include "verifier/equal/parts.h"

#include "verifier/latex/lexer/token.h"
#include "verifier/latex/text.h"

namespace lie::equal {
namespace {

using expr::Expr, expr::Op;

std::string hyphenated(const Expr& first, const Expr& rest);

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
    case Op::kAdd: return e.args.size() == 2 ? hyphenated(*e.args[0], *e.args[1]) : std::string();
    default: return {};
  }
}

// Returns the letters of y-axis, which is parsed as a difference.
std::string hyphenated(const Expr& first, const Expr& rest) {
  const bool minus_word = rest.op == Op::kMul && rest.args.size() == 2 &&
                          rest.args[0]->op == Op::kNumber && rest.args[0]->value.text() == "-1" &&
                          rest.args[1]->op == Op::kText;
  const std::string start = letters(first);
  return minus_word && !start.empty() ? start + "-" + letters(*rest.args[1]) : std::string();
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
