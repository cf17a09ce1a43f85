#include "verifier/latex/parser.h"

#include <algorithm>

#include "common/scan.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/respell.h"

namespace lie::latex {

namespace {

// A text behind its first article, and behind the command and the brace before that.
std::string_view without_article(std::string_view text) {
  std::size_t at = text.find_first_not_of(" ~$");
  if (text.substr(std::min(at, text.size())).starts_with("\\text"))
    at = text.find_first_not_of(" ~$", text.find('{', at) + 1);
  for (const std::string_view article : {"a ", "an ", "the ", "An ", "The "})
    if (text.substr(std::min(at, text.size())).starts_with(article))
      return text.substr(at + article.size());
  return text;
}

// The parts of a text between commas, semicolons, "and" and "or", normalised; empty ones left out.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> out;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    std::size_t length = 0;
    if (i == text.size() || text[i] == ',' || text[i] == ';') length = 1;
    for (const std::string_view word : {" and ", " or ", "{and}", "{or}"})
      if (text.substr(i).starts_with(word)) length = word.size();
    if (length == 0) continue;
    std::string item = normal_text(without_article(text.substr(first, i - first)));
    if (!item.empty()) out.push_back(std::move(item));
    first = i + length;
    i += length - 1;
  }
  return out;
}

// The name of a set that normalised words name; empty where they name none.
std::string_view set_in_words(std::string_view words) {
  for (const std::string_view reals : {"allrealnumbers", "allreals", "setofallrealnumbers"})
    if (words == reals) return "R";
  for (const std::string_view none : {"emptyset", "nosolution", "nosolutions", "norealsolution",
                                      "norealsolutions", "norealroots"})
    if (words == none) return "empty";
  return {};
}

}  // namespace

bool Parser::take(Tok kind) {
  if (!is(kind)) return false;
  ++at_;
  return true;
}

const Expr* Parser::fail(std::string_view reason) {
  if (error_.reason.empty()) {
    error_.position = tok().begin;
    error_.reason = reason;
  }
  return nullptr;
}

std::string_view Parser::source(std::size_t first, std::size_t last) const {
  if (first >= last) return {};
  const std::size_t begin = lexed_.tokens[first].begin;
  return text_.substr(begin, lexed_.tokens[last - 1].end - begin);
}

const Expr* Parser::answer() {
  if (const Expr* words = text_answer()) return words;
  // "= 5" and "\Rightarrow 5" are 5.
  if (is(Tok::kRelation) && is_one_of(tok().rel, Rel::kEqual, Rel::kArrow, Rel::kApprox)) ++at_;
  const Expr* tree = groups();
  if (tree == nullptr) return fail("not understood");
  if (take(Tok::kOver)) tree = arena_.divide(tree, sum());
  if (tree == nullptr) return fail("a fraction without a denominator");
  while (is(Tok::kPeriod) || is(Tok::kComma) || is(Tok::kSemicolon)) ++at_;
  return is(Tok::kEnd) ? tree : fail("something follows a complete expression");
}

// An answer in words: no digit, no operator, at least one word. Commas and "and" make a list of
// them.
const Expr* Parser::text_answer() {
  bool any_word = false;
  for (const Token& t : lexed_.tokens) {
    const bool is_word = t.kind == Tok::kWord || t.kind == Tok::kText;
    any_word = any_word || is_word;
    if (!is_word && !is_one_of(t.kind, Tok::kSymbol, Tok::kAnd, Tok::kOr, Tok::kComma, Tok::kPeriod,
                               Tok::kEnd, Tok::kPrime))
      return nullptr;
    if (t.kind == Tok::kText && std::ranges::any_of(t.name, is_digit)) return nullptr;
    if (t.kind == Tok::kSymbol && t.begin < text_.size() && text_[t.begin] == '\\') return nullptr;
  }
  if (!any_word) return nullptr;
  std::vector<const Expr*> items;
  for (const std::string& item : split_words(text_)) {
    const std::string_view set = set_in_words(item);
    if (!set.empty())
      items.push_back(arena_.named(Op::kNamedSet, set));
    else
      items.push_back(item == "infinity" ? arena_.constant(item) : arena_.named(Op::kText, item));
  }
  if (items.empty()) return nullptr;
  at_ = lexed_.tokens.size() - 1;
  return items.size() == 1 ? items.front() : arena_.node(Op::kList, std::move(items));
}

// --- lists -----------------------------------------------------------------------------------

const Expr* Parser::groups() {
  std::vector<std::vector<const Expr*>> groups(1);
  bool any_or = false;
  while (true) {
    if (!list(groups.back(), any_or)) return nullptr;
    if (!take(Tok::kSemicolon) || at_list_end()) break;
    groups.emplace_back();
  }
  return join(std::move(groups), any_or);
}

// "1,2;3,4" is a list of tuples, "1;2" a plain list.
const Expr* Parser::join(std::vector<std::vector<const Expr*>> groups, bool any_or) {
  std::vector<const Expr*> items;
  const bool tuples = groups.size() > 1 && std::ranges::any_of(groups, [](const auto& group) {
                        return group.size() > 1;
                      });
  for (auto& group : groups) {
    if (!tuples) {
      items.insert(items.end(), group.begin(), group.end());
    } else {
      items.push_back(tuple(std::move(group), '(', ')', false));
    }
  }
  return group_value(std::move(items), any_or, Op::kList);
}

bool Parser::at_list_end() const {
  return is_one_of(tok().kind, Tok::kEnd, Tok::kClose, Tok::kBraceClose, Tok::kPeriod,
                   Tok::kAmpersand, Tok::kRowBreak, Tok::kEndEnvironment);
}

// Words that separate: \text{ and }, \text{or}.
bool Parser::at_separator() {
  if (is(Tok::kComma) || is(Tok::kAnd) || is(Tok::kOr)) return true;
  if (!is(Tok::kText)) return false;
  const std::string word = normal_text(tok().name);
  return word == "and" || word == "or" || word == ",and" || word == ",or" || word == "," ||
         word == "orelse";
}

bool Parser::take_separator(bool& is_or) {
  bool any = false;
  while (at_separator()) {
    is_or = is_or || is(Tok::kOr) || (is(Tok::kText) && normal_text(tok().name).ends_with("or"));
    any = true;
    ++at_;
  }
  return any;
}

bool Parser::list(std::vector<const Expr*>& items, bool& any_or) {
  take_separator(any_or);
  while (true) {
    const Expr* item = element();
    if (item == nullptr) return false;
    items.push_back(item);
    if (!take_separator(any_or) || at_list_end() || is(Tok::kSemicolon)) return true;
  }
}

// \$5 is an amount.
const Expr* Parser::element() {
  const bool dollars = source(at_, at_ + 1) == "\\$";
  const Expr* out = relation();
  if (!dollars || out == nullptr || out->op != Op::kNumber) return out;
  return arena_.make({.op = Op::kUnit, .name = "$", .args = {out}});
}

// --- relations and set operations ------------------------------------------------------------

// P(X = 2) = ..., \Pr[A | B] = ..., \mathbb{E}[X^2] = ...: where an equation follows, a name,
// whatever stands in the brackets. Anything else is left to the rules of products.
const Expr* Parser::quantity_of_chance() {
  const bool named = is(Tok::kSymbol) || is(Tok::kNamedSet);
  if (!named || (tok().name != "P" && tok().name != "Pr" && tok().name != "E")) return nullptr;
  if (!is_open('(', 1) && !is_open('[', 1)) return nullptr;
  std::size_t end = 2;
  bool event = is(Tok::kNamedSet);
  for (int depth = 1; depth > 0 && !is(Tok::kEnd, end); ++end) {
    depth += is(Tok::kOpen, end) ? 1 : is(Tok::kClose, end) ? -1 : 0;
    event = event ||
            is_one_of(tok(end).kind, Tok::kRelation, Tok::kBar, Tok::kMid, Tok::kCap, Tok::kCup);
  }
  if (!event || !is(Tok::kRelation, end) || tok(end).rel != Rel::kEqual) return nullptr;
  at_ += end;
  return arena_.symbol(normal_name(source(at_ - end, at_)));
}

const Expr* Parser::relation() {
  const Expr* chance = quantity_of_chance();
  const Expr* first = chance != nullptr ? chance : set_expression();
  if (first != nullptr && take(Tok::kPmod)) return arena_.call(Fn::kMod, {first, fraction_part()});
  if (first == nullptr || !is(Tok::kRelation)) return first;
  Expr chain{.op = Op::kRelation, .args = {first}};
  while (is(Tok::kRelation)) {
    chain.relations.push_back(tok().rel);
    ++at_;
    const Expr* next = set_expression();
    if (next == nullptr) return fail("nothing follows a relation sign");
    chain.args.push_back(next);
  }
  return with_modulus(arena_.make(std::move(chain)));
}

bool Parser::at_bracketed_modulus() const {
  return is_open('(') &&
         (is(Tok::kMod, 1) || (is(Tok::kText, 1) && normal_text(tok(1).name) == "mod"));
}

// a = b (mod n), a \equiv b \mod n
const Expr* Parser::with_modulus(const Expr* relation) {
  const bool bracketed = at_bracketed_modulus();
  const bool equivalence = relation != nullptr && relation->relations.back() == Rel::kEquivalent;
  if (equivalence && relation->args.back()->fn == Fn::kMod) {
    Expr chain = *relation;
    const Expr* residue = chain.args.back();
    chain.args.back() = residue->args[0];
    return arena_.node(Op::kTuple, {arena_.make(std::move(chain)), residue->args[1]});
  }
  if (!is(Tok::kPmod) && !bracketed) return relation;
  at_ += bracketed ? 2 : 1;
  const Expr* modulus = bracketed ? sum() : fraction_part();
  if (bracketed && !take(Tok::kClose)) return fail("the modulus is not closed");
  return arena_.node(Op::kTuple, {relation, modulus});
}

const Expr* Parser::set_operation(Tok kind, const Expr* left, const Expr* right) {
  if (kind == Tok::kCup) return arena_.node(Op::kUnion, {left, right});
  if (kind == Tok::kCap) return arena_.node(Op::kIntersection, {left, right});
  return arena_.node(Op::kDifference, {left, right});
}

// \mathbb{R} - \{0\}
bool Parser::parts_from_set(const Expr& left) const {
  return is(Tok::kMinus) && is_one_of(left.op, Op::kNamedSet, Op::kUnion, Op::kDifference) &&
         (is_open('{', 1) || is(Tok::kBraceOpen, 1));
}

const Expr* Parser::set_expression() {
  const Expr* left = sum();
  while (left != nullptr &&
         (is(Tok::kCup) || is(Tok::kCap) || is(Tok::kSetMinus) || parts_from_set(*left))) {
    const Tok kind = tok().kind;
    ++at_;
    left = set_operation(kind, left, sum());
  }
  return left;
}

// --- entry -----------------------------------------------------------------------------------

namespace {

// Digits as wide as Chinese characters, points and slashes, as others: "１２" is 12.
std::string narrowed(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool wide = text.size() - i > 2 && text[i] == '\xef' && text[i + 1] == '\xbc';
    const int code = wide ? static_cast<unsigned char>(text[i + 2]) - 0x80 + 0x20 : 0;
    const bool known = wide && std::string_view("./0123456789").find(static_cast<char>(code)) !=
                                   std::string_view::npos;
    out.push_back(known ? static_cast<char>(code) : text[i]);
    i += known ? 3 : 1;
  }
  return out;
}

}  // namespace

Parsed parse(std::string_view text, expr::Arena& arena, bool bare_fractions) {
  std::string narrow;
  if (text.find("\xef\xbc") != std::string_view::npos) text = narrow = narrowed(text);
  Lexed lexed = lex(text, arena.budget());
  respell(lexed);
  Parsed out;
  for (const bool bars_nest : {false, true}) {
    if (arena.budget().exhausted()) break;
    Parser parser(text, lexed, arena, bars_nest, bare_fractions);
    out.tree = parser.answer();
    if (!bars_nest || out.tree != nullptr) out.error = parser.error();
    // Which bars belong together is guessed; where the first guess fails, the other is tried.
    if (out.tree != nullptr || !parser.saw_bar()) break;
  }
  if (arena.budget().exhausted()) out.tree = nullptr;
  return out;
}

namespace {

bool is_quotation_mark(std::string_view character) {
  return is_one_of(character, "“", "”", "‘", "’");
}

}  // namespace

std::string normal_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      static constexpr std::string_view kDropped[] = {"\\text",   "\\mathrm", "\\mbox",  "\\textbf",
                                                      "\\mathbf", "\\left",   "\\right", "\\textit",
                                                      "\\quad",   "\\qquad"};
      std::size_t longest = 0;
      for (std::string_view word : kDropped)
        if (text.substr(i).starts_with(word)) longest = std::max(longest, word.size());
      i += longest > 0 ? longest - 1 : 0;
      continue;
    }
    if (std::string_view(" \t\n\r(){}$\"'`~*").find(c) != std::string_view::npos) continue;
    if (is_quotation_mark(text.substr(i, 3))) {
      i += 2;
      continue;
    }
    out.push_back(to_lower(c));
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

std::string without_spacing(std::string_view text) {
  static constexpr std::string_view kDropped[] = {"\\left", "\\right", "\\,", "\\!", "\\;", "$"};
  std::string out;
  bool apart = false;  // something was dropped behind the last sign kept
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t length =
        std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos ? 1 : 0;
    for (const std::string_view word : kDropped)
      if (text.substr(i).starts_with(word)) length = word.size();
    const bool behind_digit = !out.empty() && is_digit(out.back());
    if (length > 0) {
      i += length - 1;
      apart = apart || behind_digit;
    } else {
      // "1 2" is not 12.
      if (apart && behind_digit && is_digit(text[i])) out.push_back(' ');
      apart = false;
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string normal_name(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '\\' && c != '{' && c != '}' && c != ' ') out.push_back(c);
  return out;
}

}  // namespace lie::latex
