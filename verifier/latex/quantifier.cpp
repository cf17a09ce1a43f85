#include "verifier/latex/quantifier.h"

#include <algorithm>
#include <array>

#include "common/scan.h"

namespace lie::latex {
namespace {

/// Whether a text holds only single letters and words that name no smaller set than the reals.
bool is_harmless(std::string_view text) {
  constexpr std::array<std::string_view, 14> kWords = {
      "for",   "all",     "every",  "each", "any", "real", "reals",
      "value", "numbers", "number", "of",   "the", "in",   "values"};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    while (i < text.size() && is_letter(text[i])) ++i;
    const std::string_view word = text.substr(begin, i - begin);
    if (word.size() > 1 && std::ranges::find(kWords, word) == kWords.end()) return false;
    if (!word.empty()) continue;
    if (std::string_view(" ,.$").find(text[i]) == std::string_view::npos) return false;
    ++i;
  }
  return true;
}

bool may_follow(const Token& token) {
  switch (token.kind) {
    case Tok::kText:
    case Tok::kWord: return is_harmless(token.name);
    case Tok::kSymbol:
    case Tok::kComma:
    case Tok::kPeriod:
    case Tok::kEnd: return true;
    case Tok::kRelation: return token.rel == expr::Rel::kIn;
    case Tok::kNamedSet: return token.name == "R";
    default: return false;
  }
}

bool begins(const Token& token, const Token& next) {
  if (token.kind == Tok::kSymbol) return token.name == "forall";
  const auto quantifies = [](std::string_view word) {
    return word == "all" || word == "every" || word == "each" || word == "any";
  };
  if (token.kind == Tok::kWord) {
    return token.name == "for" && next.kind == Tok::kWord && quantifies(next.name);
  }
  if (token.kind != Tok::kText) return false;
  const std::size_t start = std::min(token.name.find_first_not_of(' '), token.name.size());
  const std::string_view text = token.name.substr(start);
  if (!text.starts_with("for ")) return false;
  return quantifies(text.substr(4, text.find(' ', 4) - 4));
}

}  // namespace

void drop_trailing_quantifier(Lexed& lexed) {
  std::vector<Token>& tokens = lexed.tokens;
  const auto related = std::ranges::find(tokens, Tok::kRelation, &Token::kind);
  for (auto at = related; at != tokens.end() && at->kind != Tok::kEnd; ++at) {
    if (!begins(*at, *(at + 1))) continue;
    if (std::all_of(at, tokens.end(), may_follow)) tokens.erase(at, tokens.end() - 1);
    return;
  }
}

}  // namespace lie::latex
