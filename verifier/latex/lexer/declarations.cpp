#include "verifier/latex/lexer/declarations.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "common/text/scan.h"

namespace lie::latex {
namespace {

bool is_member_sign(const Token& token) {
  return token.kind == Tok::kRelation && token.rel == expr::Rel::kIn;
}

// Returns the words of tokens, or nothing if they hold more than words, names and "in R".
std::optional<std::vector<std::string_view>> words_of(std::span<const Token> tokens) {
  std::vector<std::string_view> out;
  for (const Token& token : tokens) {
    const bool in_reals =
        is_member_sign(token) || (token.kind == Tok::kNamedSet && token.name == "R");
    const bool says = is_one_of(token.kind, Tok::kText, Tok::kWord, Tok::kSymbol);
    if (!says && !in_reals && !is_one_of(token.kind, Tok::kComma, Tok::kPeriod, Tok::kEnd))
      return std::nullopt;
    for (std::string_view rest = says ? token.name : ""; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(" ,.$"), rest.size());
      if (end > 0) out.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return out;
}

// Returns whether words quantify over all reals: "for every real t".
bool quantify(const std::vector<std::string_view>& words) {
  constexpr std::array<std::string_view, 9> kWords = {
      "real", "reals", "value", "values", "numbers", "number", "of", "the", "in"};
  const bool sign = !words.empty() && words[0] == "forall";
  const auto quantifies = [](auto word) { return is_one_of(word, "all", "every", "each", "any"); };
  if (!sign && !(words.size() > 1 && words[0] == "for" && quantifies(words[1]))) return false;
  return std::all_of(words.begin() + 1, words.end(), [&](std::string_view word) {
    return word.size() == 1 || quantifies(word) || std::ranges::find(kWords, word) != kWords.end();
  });
}

// Puts a comma before the declaration of an integer at the end of an answer: "2k\pi (k \in
// \mathbb{Z})" and "2k\pi \text{ where } k \in \mathbb{Z}" become "2k\pi, k \in \mathbb{Z}".
void separate_declaration(std::vector<Token>& tokens) {
  auto end = tokens.end() - 1;
  if (end != tokens.begin() && (end - 1)->kind == Tok::kPeriod) --end;
  const bool bracket = end != tokens.begin() && (end - 1)->kind == Tok::kClose;
  const auto last = end - (bracket ? 1 : 0);
  if (last - tokens.begin() < 5 || (last - 1)->kind != Tok::kNamedSet ||
      !is_member_sign(*(last - 2)) || (last - 3)->kind != Tok::kSymbol)
    return;
  Token& before = *(last - 4);
  const std::string_view words = trimmed(before.name);
  const bool introduces =
      before.kind == Tok::kText && is_one_of(words, "where", "with", "for", "for any", "for all");
  if (introduces || (bracket && before.kind == Tok::kOpen)) before.kind = Tok::kComma;
  if (bracket && before.kind == Tok::kComma) tokens.erase(last);
}

// Removes a universal quantifier over the reals, or without a domain, at the end of an answer with
// a relation sign. Others ("for all x > 0", "for every integer n") stay.
void drop_trailing_quantifier(std::vector<Token>& tokens) {
  auto at = std::ranges::find(tokens, Tok::kRelation, &Token::kind);
  at = std::find_if(at, tokens.end(), [](const Token& token) {
    return token.name == "forall" || trimmed(token.name).starts_with("for");
  });
  const auto words = words_of({at, tokens.end()});
  if (words && quantify(*words)) tokens.erase(at, tokens.end() - 1);
}

// --- declarations in words -------------------------------------------------------------------

/// What a clause such as "where a and b are real constants" declares.
struct Declaration {
  std::vector<std::vector<Token>> names;
  std::string_view set;  // of each name; empty without one
  bool constant = false;
  bool quantified = false;  // the clause says "any", "some" or the like
  bool exists = false;      // the clause says "some"
  bool worded = false;      // the clause has words

  // Returns false if the set is not that of the words before.
  bool take_set(std::string_view name) {
    const bool fits = set.empty() || set == name;
    set = name;
    return fits;
  }
  bool take_word(std::string_view word);
};

// Takes a word. Returns false for one that may change what is declared.
bool Declaration::take_word(std::string_view word) {
  static constexpr std::string_view kLinks[] = {
      "where", "with", "for",   "and",   "here",      "is",     "are",     "a",     "an",
      "the",   "any",  "every", "each",  "all",       "both",   "fixed",   "value", "values",
      "of",    "be",   "can",   "being", "arbitrary", "number", "numbers", "some",  "integration"};
  worded = true;
  exists = exists || word == "some";
  quantified = quantified || is_one_of(word, "any", "every", "each", "all", "some", "arbitrary");
  if (is_one_of(word, "integer", "integers")) return take_set("Z");
  if (is_one_of(word, "real", "reals")) return take_set("R");
  const bool noun = is_one_of(word, "constant", "constants", "parameter", "parameters");
  constant = constant || noun;
  return noun || std::ranges::find(kLinks, word) != std::end(kLinks);
}

// Returns the number of tokens of an index, as in C_1 and C_{12}, or 0.
std::size_t index_length(std::span<const Token> tokens) {
  if (tokens.size() < 2 || tokens[0].kind != Tok::kUnderscore) return 0;
  if (is_one_of(tokens[1].kind, Tok::kNumber, Tok::kSymbol)) return 2;
  const bool braced =
      tokens.size() > 3 && tokens[1].kind == Tok::kBraceOpen && tokens[3].kind == Tok::kBraceClose;
  return braced ? 4 : 0;
}

// Takes the words and names of a text. Returns false if it has others.
bool take_text(Declaration& out, const Token& token) {
  bool formula = false;  // within $c$
  for (std::string_view rest = token.name; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(" ,.$"), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (word.size() == 1 && is_letter(word[0]) && (formula || word != "a")) {
      Token name = token;
      name.kind = Tok::kSymbol;
      name.name = word;
      out.names.push_back({name});
    } else if (!word.empty() && !out.take_word(word)) {
      return false;
    }
    formula = formula != (end < rest.size() && rest[end] == '$');
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

// Returns the number of letters at the front that are written as one word, as in "is".
std::size_t joined_letters(std::span<const Token> tokens) {
  std::size_t n = 1;
  while (n < tokens.size() && tokens[n].kind == Tok::kSymbol &&
         tokens[n].name.data() == tokens[n - 1].name.data() + tokens[n - 1].name.size())
    ++n;
  return n;
}

// Returns what a clause declares, or nothing if it says more.
std::optional<Declaration> declaration_of(std::span<const Token> clause) {
  Declaration out;
  while (!clause.empty()) {
    const Token& token = clause.front();
    std::size_t length = 1;
    bool known = is_one_of(token.kind, Tok::kComma, Tok::kAnd);
    if (is_one_of(token.kind, Tok::kText, Tok::kWord)) {
      known = take_text(out, token);
    } else if (token.kind == Tok::kSymbol && joined_letters(clause) > 1) {
      length = joined_letters(clause);
      known = out.take_word({token.name.data(), length});
    } else if (token.kind == Tok::kSymbol) {
      length += index_length(clause.subspan(1));
      const auto name = clause.first(length);
      out.names.emplace_back(name.begin(), name.end());
      known = true;
    } else if (is_member_sign(token) && clause.size() > 1 && clause[1].kind == Tok::kNamedSet) {
      length = 2;
      known = !out.names.empty() && out.take_set(clause[1].name);
    }
    if (!known) return std::nullopt;
    clause = clause.subspan(length);
  }
  if (out.set.empty() && out.constant) out.set = "R";
  const bool says_nothing = out.set.empty() && !out.quantified;
  const bool is_usual = !out.worded && out.names.size() == 1;
  if (out.names.empty() || says_nothing || is_usual) return std::nullopt;
  return out;
}

// Returns whether a token may be part of a clause.
bool is_wordy(const Token& token) {
  return is_one_of(token.kind, Tok::kText, Tok::kWord, Tok::kSymbol, Tok::kComma, Tok::kAnd,
                   Tok::kNamedSet, Tok::kUnderscore) ||
         is_member_sign(token);
}

// Returns whether a clause may begin at a token: after a comma or bracket, or with a word such as
// "where".
bool starts_clause(std::span<const Token> tokens, std::size_t at) {
  if (is_one_of(tokens[at - 1].kind, Tok::kComma, Tok::kOpen)) return true;
  std::string_view words = trimmed(tokens[at].name);
  if (lie::take(words, ",")) words = trimmed(words);
  return is_one_of(tokens[at].kind, Tok::kText, Tok::kWord) &&
         (words.starts_with("where") || words.starts_with("with") || words.starts_with("for"));
}

// Returns whether an answer is a formula, and not words about a name.
bool is_answer(std::span<const Token> tokens) {
  const auto is_text = [](const Token& token) {
    return is_one_of(token.kind, Tok::kText, Tok::kWord);
  };
  return !std::ranges::all_of(tokens, is_wordy) || std::ranges::none_of(tokens, is_text);
}

bool occurs(const Token& name, std::span<const Token> answer) {
  return std::ranges::any_of(answer, [&](const Token& token) {
    return token.kind == Tok::kSymbol && token.name == name.name;
  });
}

// Returns whether a name is the argument of a function, as in f(x) = 0.
bool is_argument(std::span<const Token> answer, const Token& name) {
  for (std::size_t i = 1; i + 2 < answer.size(); ++i)
    if (answer[i].kind == Tok::kOpen && answer[i - 1].kind == Tok::kSymbol &&
        answer[i + 1].name == name.name && answer[i + 2].kind == Tok::kClose)
      return true;
  return false;
}

// Returns ", name \in S", or nothing for a name without a set.
std::vector<Token> spelled(const std::vector<Token>& name, std::string_view set) {
  if (set.empty()) return {};
  std::vector<Token> out = {name.front()};
  out.front().kind = Tok::kComma;
  out.insert(out.end(), name.begin(), name.end());
  for (const Tok kind : {Tok::kRelation, Tok::kNamedSet}) {
    Token token = name.back();
    token.begin = token.end;
    token.kind = kind;
    token.rel = expr::Rel::kIn;
    token.name = kind == Tok::kNamedSet ? set : "";
    out.push_back(token);
  }
  return out;
}

// Returns the tokens that replace a declaration, or nothing if it must stay. A quantifier over the
// reals is removed. The statement "f(x) = 0 for some x" is weaker than f(x) = 0, and its words
// stay.
std::optional<std::vector<Token>> respelled(const Declaration& said,
                                            std::span<const Token> answer) {
  const bool weak =
      said.exists && said.set.empty() && std::ranges::any_of(answer, [](const Token& token) {
        return token.kind == Tok::kRelation && token.rel != expr::Rel::kEqual;
      });
  if (weak) return std::nullopt;
  std::vector<Token> out;
  for (const std::vector<Token>& name : said.names) {
    const bool argument = is_argument(answer, name.front());
    const bool real = said.set.empty() || said.set == "R";
    if ((argument && (said.exists || !real)) || !occurs(name.front(), answer)) return std::nullopt;
    const std::vector<Token> one = spelled(name, argument ? "" : said.set);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

// Respells the last declaration in words or of several names.
void respell_last(std::vector<Token>& tokens) {
  constexpr std::size_t kLongest = 32;  // tokens
  std::size_t end = tokens.size() - 1;
  if (end > 0 && tokens[end - 1].kind == Tok::kPeriod) --end;
  const bool bracket = end > 0 && tokens[end - 1].kind == Tok::kClose;
  const std::size_t last = end - (bracket ? 1 : 0);
  std::size_t first = last;
  const auto belongs = [&](std::size_t i) {
    const bool in_index = i > 0 && (tokens[i - 1].kind == Tok::kUnderscore ||
                                    (i > 1 && tokens[i - 2].kind == Tok::kUnderscore) ||
                                    (i > 2 && tokens[i - 3].kind == Tok::kUnderscore));
    return is_wordy(tokens[i]) || in_index;
  };
  while (first > 1 && last - first < kLongest && belongs(first - 1)) --first;
  first = std::max<std::size_t>(first, 1);
  for (std::size_t at = first; at < last; ++at) {
    const bool starts = bracket ? tokens[at - 1].kind == Tok::kOpen : starts_clause(tokens, at);
    if (!starts) continue;
    const std::size_t answer = at - (is_one_of(tokens[at - 1].kind, Tok::kComma, Tok::kOpen));
    const std::span<const Token> before = std::span(tokens).first(answer);
    const auto said = declaration_of(std::span(tokens).subspan(at, last - at));
    if (before.empty() || !said || !is_answer(before)) continue;
    const auto replaced = respelled(*said, before);
    if (!replaced) return;
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(answer);
    tokens.erase(from, tokens.end() - 1);
    tokens.insert(tokens.end() - 1, replaced->begin(), replaced->end());
    return;
  }
}

}  // namespace

void read_declarations(std::vector<Token>& tokens) {
  drop_trailing_quantifier(tokens);
  separate_declaration(tokens);
  respell_last(tokens);
}

}  // namespace lie::latex
