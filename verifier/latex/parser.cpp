#include "verifier/latex/parser.h"

#include <algorithm>
#include <array>

#include "common/text/scan.h"
#include "verifier/latex/forms.h"
#include "verifier/latex/parity.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"
#include "verifier/latex/upright.h"

namespace lie::latex {

namespace {

// Returns the text after its first article, and after the command and brace before that.
std::string_view without_article(std::string_view text) {
  std::size_t at = text.find_first_not_of(" ~$");
  if (text.substr(std::min(at, text.size())).starts_with("\\text"))
    at = text.find_first_not_of(" ~$", text.find('{', at) + 1);
  for (const std::string_view article : {"a ", "an ", "the ", "An ", "The "})
    if (text.substr(std::min(at, text.size())).starts_with(article))
      return text.substr(at + article.size());
  return text;
}

// Returns the normalized parts of a text between commas, semicolons, "and" and "or", without empty
// ones.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> out;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    std::size_t length = 0;
    if (i == text.size() || text[i] == ',' || text[i] == ';') length = 1;
    for (const std::string_view word : {" and ", " or ", "{and}", "{or}", "、", "，"})
      if (text.substr(i).starts_with(word)) length = word.size();
    if (length == 0) continue;
    std::string item = compared_text(trimmed(without_article(text.substr(first, i - first))));
    if (const auto parity = read_parity(item))
      item = std::string(1, parity->name) + (parity->odd ? "odd" : "even");
    if (!item.empty()) out.push_back(std::move(item));
    first = i + length;
    i += length - 1;
  }
  return out;
}

// Returns the name of the set that normalized words describe, or nothing.
std::string_view set_in_words(std::string_view words) {
  if (is_one_of(words, "allrealnumbers", "allreals", "setofallrealnumbers")) return "R";
  const bool none = is_one_of(words, "emptyset", "nosolution", "nosolutions", "norealsolution",
                              "norealsolutions", "norealroots");
  return none ? "empty" : "";
}

// Modulo 1 all integers are equal.
bool is_trivial_modulus(const Expr& modulus) {
  return modulus.op == Op::kNumber && !(exact::Rational(1) < modulus.value);
}

// Returns whether a remainder is carried out: 3 \bmod 7 is 3 modulo 7, and 17 \bmod 7 is 3.
bool is_reduced(const Expr& e) {
  return e.op == Op::kFunction && e.fn == Fn::kMod && e.args[0]->op == Op::kNumber &&
         e.args[1]->op == Op::kNumber && e.args[0]->value.sign() >= 0 &&
         e.args[0]->value < e.args[1]->value;
}

bool says_or(std::string_view separator) {
  return separator.ends_with("or") || separator == "orelse" || separator.starts_with("或");
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
  // A leading sign, as in "= 5" and "\Rightarrow 5", is skipped.
  if (is(Tok::kRelation) && is_one_of(tok().rel, Rel::kEqual, Rel::kArrow, Rel::kIff, Rel::kApprox))
    ++at_;
  const bool plus = is(Tok::kPlus);
  const Expr* tree = groups();
  if (tree != nullptr && plus && tree->op == Op::kSymbol)
    return fail("a plus sign before a name alone");
  if (tree == nullptr) return fail("not understood");
  if (take(Tok::kOver)) tree = arena_.divide(tree, sum());
  if (tree == nullptr) return fail("a fraction without a denominator");
  while (is(Tok::kPeriod) || is(Tok::kComma) || is(Tok::kSemicolon)) ++at_;
  return is(Tok::kEnd) ? tree : fail("something follows a complete expression");
}

// Reads an answer in words, which has no digit, no operator and at least one word. Commas and "and"
// make a list.
const Expr* Parser::text_answer() {
  bool any_word = false;
  for (const Token& t : lexed_.tokens) {
    const bool is_word = t.kind == Tok::kWord || t.kind == Tok::kText;
    any_word = any_word || is_word;
    if (!is_word && !is_one_of(t.kind, Tok::kSymbol, Tok::kAnd, Tok::kOr, Tok::kComma, Tok::kPeriod,
                               Tok::kEnd, Tok::kPrime))
      return nullptr;
    if (t.kind == Tok::kText && std::ranges::any_of(t.name, is_digit)) return nullptr;
    const bool function = t.kind == Tok::kText && names_function(t.name);
    if (function && (&t + 1)->kind == Tok::kSymbol) return nullptr;
    if (t.kind == Tok::kSymbol && t.begin < text_.size() && text_[t.begin] == '\\') return nullptr;
  }
  if (!any_word) return nullptr;
  std::vector<const Expr*> items;
  std::vector<std::string> parts = split_words(text_);
  // The "and" of one hundred and five joins no list.
  if (std::string whole = normal_text(without_article(text_)); number_in_words(whole))
    parts = {std::move(whole)};
  for (const std::string& item : parts) {
    const std::string_view set = set_in_words(item);
    items.push_back(set.empty() ? worded(item) : arena_.named(Op::kNamedSet, set));
  }
  if (items.empty()) return nullptr;
  at_ = lexed_.tokens.size() - 1;
  if (items.size() == 1) return items.front();
  const auto joins_by = [this](Tok kind) {
    return std::ranges::any_of(lexed_.tokens, [kind](const Token& t) {
      return t.kind == kind ||
             (t.kind == Tok::kText && trimmed(t.name) == (kind == Tok::kAnd ? "and" : "or"));
    });
  };
  const bool any_or = joins_by(Tok::kOr);
  return arena_.make({.op = Op::kList,
                      .flag = any_or,
                      .open = joins_by(Tok::kAnd) ? '&' : '\0',
                      .args = std::move(items)});
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

// The text "1,2;3,4" is a list of tuples, and "1;2" a plain list.
const Expr* Parser::join(std::vector<std::vector<const Expr*>> groups, bool any_or) {
  std::vector<const Expr*> items;
  const bool tuples = groups.size() > 1 && std::ranges::any_of(groups, [](const auto& group) {
                        return group.size() > 1;
                      });
  for (auto& group : groups) {
    if (!tuples)
      items.insert(items.end(), group.begin(), group.end());
    else
      items.push_back(tuple(std::move(group), '(', ')', false));
  }
  return group_value(std::move(items), any_or, Op::kList);
}

bool Parser::at_list_end() const {
  return is_one_of(tok().kind, Tok::kEnd, Tok::kClose, Tok::kBraceClose, Tok::kPeriod,
                   Tok::kAmpersand, Tok::kRowBreak, Tok::kEndEnvironment);
}

// Returns whether a comma, or a word such as \text{ and }, separates here.
bool Parser::at_separator() {
  if (is(Tok::kComma) || is(Tok::kAnd) || is(Tok::kOr)) return true;
  if (!is(Tok::kText)) return false;
  const std::string word = normal_text(tok().name);
  return is_one_of(word, "and", "or", ",and", ",or", ",", "orelse", "且", "和", "或", "或者");
}

bool Parser::take_separator(bool& is_or) {
  bool any = false;
  while (at_separator()) {
    saw_and_ = saw_and_ || is(Tok::kAnd) ||
               (is(Tok::kText) && is_one_of(normal_text(tok().name), "and", ",and", "且"));
    is_or = is_or || is(Tok::kOr) || (is(Tok::kText) && says_or(normal_text(tok().name)));
    any = true;
    ++at_;
  }
  return any;
}

bool Parser::list(std::vector<const Expr*>& items, bool& any_or) {
  take_separator(any_or);
  std::vector<bool> after_or(1);  // whether "or" stands before an item
  while (true) {
    const Expr* item = element();
    if (item == nullptr) return false;
    items.push_back(item);
    bool is_or = false;
    const bool separated = take_separator(is_or);
    any_or = any_or || is_or;
    after_or.push_back(is_or);
    if (!separated || at_list_end() || is(Tok::kSemicolon)) break;
  }
  share_modulus(items);
  group_solutions(items, after_or);
  return true;
}

namespace {

// Returns the letter that an equation x = 2 gives a value, or nothing.
std::string_view solved_letter(const Expr& e) {
  const bool solved =
      e.op == Op::kRelation && e.relations[0] == Rel::kEqual && e.args[0]->op == Op::kSymbol;
  return solved ? std::string_view(e.args[0]->name) : std::string_view();
}

// Returns the number of letters of each solution in x = 1, y = 2, x = 2, y = 1, or 0 if the
// equations are not several solutions for the same letters.
std::size_t letters_of_solutions(const std::vector<const Expr*>& items) {
  std::vector<std::string_view> letters;
  for (const Expr* item : items) letters.push_back(solved_letter(*item));
  const auto again = std::find(letters.begin() + 1, letters.end(), letters[0]);
  const auto period = static_cast<std::size_t>(again - letters.begin());
  if (letters[0].empty() || period < 2 || again == letters.end() || letters.size() % period != 0)
    return 0;
  const std::set<std::string_view> first(letters.begin(), again);
  for (std::size_t i = 0; i < letters.size(); i += period) {
    const auto begin = letters.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::set(begin, begin + static_cast<std::ptrdiff_t>(period)) != first) return 0;
  }
  return first.size() == period ? period : 0;
}

}  // namespace

// Makes tuples of the solutions x = 1, y = 2 or x = 2, y = 1. An "or" within a solution would join
// its equations.
void Parser::group_solutions(std::vector<const Expr*>& items, const std::vector<bool>& after_or) {
  if (items.size() < 4 || nesting_ > 1) return;
  const std::size_t period = letters_of_solutions(items);
  if (period == 0) return;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (after_or[i] && i % period != 0) return;
  std::vector<const Expr*> solutions;
  for (auto at = items.begin(); at != items.end(); at += static_cast<std::ptrdiff_t>(period))
    solutions.push_back(tuple({at, at + static_cast<std::ptrdiff_t>(period)}, '(', ')', false));
  items = std::move(solutions);
}

// Gives all residues of x \equiv 3, 5 \pmod 7 the modulus of the last.
void Parser::share_modulus(std::vector<const Expr*>& items) {
  const auto is_residue = [](const Expr* e) {
    return e->op == Op::kTuple && e->open == 0 && e->args.size() == 2;
  };
  if (items.size() < 2 || !is_residue(items.back())) return;
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    const bool residue = !is_residue(items[i]) &&
                         (is_constant(*items[i]) || (items[i]->op == Op::kRelation &&
                                                     items[i]->relations[0] == Rel::kEquivalent));
    if (residue) items[i] = arena_.node(Op::kTuple, {items[i], items.back()->args[1]});
  }
}

namespace {

/// A set of kinds of tokens with a lookup table.
struct TokSet {
  std::array<bool, static_cast<std::size_t>(Tok::kIgnore) + 1> holds = {};

  template <typename... Kinds>
  constexpr explicit TokSet(Kinds... kinds) {
    ((holds[static_cast<std::size_t>(kinds)] = true), ...);
  }
  constexpr bool operator[](Tok kind) const { return holds[static_cast<std::size_t>(kind)]; }
};

constexpr TokSet kEnds(Tok::kEnd, Tok::kComma, Tok::kSemicolon, Tok::kAnd, Tok::kOr, Tok::kClose,
                       Tok::kAmpersand, Tok::kRowBreak, Tok::kEndEnvironment);
constexpr TokSet kOfForms(Tok::kNumber, Tok::kSymbol, Tok::kWord, Tok::kText, Tok::kMinus,
                          Tok::kDivide, Tok::kColon, Tok::kPeriod, Tok::kBraceOpen,
                          Tok::kBraceClose, Tok::kPercent, Tok::kCurrency);

}  // namespace

// Returns whether an element of a list ends before a token.
bool Parser::ends_element(std::size_t ahead) const {
  if (!is(Tok::kText, ahead)) return kEnds[tok(ahead).kind];
  const std::string_view word = trimmed(tok(ahead).name);
  return word == "and" || word == "or";
}

// Returns the number of tokens of the element if it may be a form, and 0 otherwise. A comma belongs
// to a date such as June 1, 2021.
std::size_t Parser::form_length() const {
  constexpr std::size_t kMostTokens = 24;
  std::size_t depth = 0;
  bool words = false;
  const bool phone = is_open('(') && is(Tok::kNumber, 1) && is(Tok::kNumber, 3);
  for (std::size_t n = phone ? 3 : 0; n < kMostTokens; ++n) {
    const Tok kind = tok(n).kind;
    const bool year =
        words && kind == Tok::kComma && is(Tok::kNumber, n + 1) && tok(n + 1).name.size() == 4;
    if (year) continue;
    if (kEnds[kind] || (kind == Tok::kText && ends_element(n)) ||
        (kind == Tok::kBraceClose && depth == 0))
      return n;
    if (!kOfForms[kind]) return 0;
    depth += kind == Tok::kBraceOpen ? 1 : 0;
    depth -= kind == Tok::kBraceClose ? 1 : 0;
    words = words || kind == Tok::kWord || kind == Tok::kText;
  }
  return 0;
}

namespace {

// Returns whether a word between two numbers makes the second a remainder.
bool is_remainder_word(std::string_view word) { return is_one_of(word, "r", "R", "remainder"); }

// Returns whether a word begins as am, pm and the names of months do.
bool may_begin_form(std::string_view word) {
  constexpr std::string_view kStarts = "am a. ap au pm p. ja ju ma fe se oc no de";
  if (word.size() < 2) return false;
  const char first = to_lower(word[0]), second = to_lower(word[1]);
  for (std::size_t i = 0; i + 1 < kStarts.size(); i += 3)
    if (kStarts[i] == first && kStarts[i + 1] == second) return true;
  return false;
}

// Returns whether a text between two numbers makes them a range.
bool is_range_word(std::string_view word) { return is_one_of(word, "to", "-", "–", "—"); }

}  // namespace

// Returns the number of tokens of a unit, or 0. A single letter is one only after a space.
std::size_t Parser::unit_length(std::size_t ahead) const {
  if (is(Tok::kText, ahead) || is(Tok::kWord, ahead))
    return is_range_word(trimmed(tok(ahead).name)) ? 0 : 1;
  const std::size_t n = letters_ahead(ahead);
  if (n == 0 || (n == 1 && !tok(ahead).spaced)) return 0;
  const std::string_view unit = source(at_ + ahead, at_ + ahead + n);
  return n > 1 ? (read_unit(unit) ? n : 0) : (is_one_of(unit, "m", "g", "J", "W", "L") ? n : 0);
}

// Returns the number of tokens of the range in 10-20 cm and 10 cm - 20 cm before its last unit, or
// 0.
std::size_t Parser::measured_range() const {
  const auto at_mark = [this](std::size_t n) {
    return is(Tok::kMinus, n) ||
           (is_one_of(tok(n).kind, Tok::kText, Tok::kWord) && is_range_word(trimmed(tok(n).name)));
  };
  if (!is(Tok::kNumber)) return 0;
  const std::size_t unit = at_mark(1) ? 0 : unit_length(1);
  const std::size_t second = 2 + unit;
  if (!at_mark(1 + unit) || !is(Tok::kNumber, second)) return 0;
  const std::size_t last = unit_length(second + 1);
  const auto name = [this](std::size_t first, std::size_t n) {
    return unit_text(source(at_ + first, at_ + first + n));
  };
  const bool same = unit == 0 || name(1, unit) == name(second + 1, last);
  return last > 0 && same ? second + 1 : 0;
}

// Returns whether tokens may be a form, by their kinds and first letters. Most products, quantities
// and words are none.
bool Parser::may_be_form(std::size_t length) const {
  constexpr std::string_view kRoman = "IVXLCDMivx";
  // A fraction is none, and a ratio only with the zero of a time in front of a number.
  const bool zero = tok().name.starts_with('0') || tok(2).name.starts_with('0');
  if (length == 3 && is(Tok::kNumber) && (is(Tok::kDivide, 1) || (is(Tok::kColon, 1) && !zero)))
    return false;
  bool number = false, mark = false, roman = length > 1, code = false, word = false;
  bool capitals = length > 2 && nesting_ == 0;  // BCA, but not in \frac{BCA}{2}
  for (std::size_t n = 0; n < length; ++n) {
    const Token& token = tok(n);
    const bool words = is_one_of(token.kind, Tok::kWord, Tok::kText) && !token.name.empty();
    const std::string_view name = words ? trimmed(token.name) : token.name;
    const bool beyond_ascii = words && !name.empty() && static_cast<unsigned char>(name[0]) >= 0x80;
    word = word || beyond_ascii || (words && may_begin_form(name));
    number = number || token.kind == Tok::kNumber;
    capitals = capitals && token.kind == Tok::kSymbol && name.size() == 1 && name[0] >= 'A' &&
               name[0] <= 'Z' && (n == 0 || !token.spaced);
    mark = mark || is_one_of(token.kind, Tok::kMinus, Tok::kDivide, Tok::kColon) ||
           (words && (is_range_word(name) || is_remainder_word(name))) ||
           (token.kind == Tok::kNumber && n > 0 && tok(n - 1).kind == Tok::kNumber);
    const bool capital = words && !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
    code = code || token.kind == Tok::kSymbol ||
           (token.kind == Tok::kWord && (capital || (n > 0 && !token.spaced)));
    if (token.kind == Tok::kSymbol ? kRoman.find(name) == kRoman.npos : true) roman = false;
    if (token.kind == Tok::kText && length == 1)
      return std::ranges::any_of(name, is_digit) || name.find_first_not_of(kRoman) == name.npos;
  }
  return roman || capitals || (number && (mark || code || word));
}

// Parses a date, time, range or code that makes up an element. Returns nullptr for anything else.
// Ranges count only outside of brackets, since (3-1, 2) is a point.
const Expr* Parser::form() {
  if (is(Tok::kNumber) && ends_element(1)) return nullptr;
  std::size_t length = form_length();
  if (length == 0 || !may_be_form(length)) return nullptr;
  std::optional<Form> form = read_form(source(at_, at_ + length));
  const std::size_t measured = !form && length > 3 ? measured_range() : 0;
  if (measured > 0) {
    length = measured;
    form = read_form(std::string(source(at_, at_ + 1)) + "-" +
                     std::string(source(at_ + length - 1, at_ + length)));
  }
  if (!form || (form->arithmetic && nesting_ > 0)) return nullptr;
  Expr out{.op = Op::kCode, .open = static_cast<char>(form->sort), .name = std::move(form->text)};
  const std::size_t first = at_;
  if (measured > 3) {
    out.args.push_back(
        arena_.add({arena_.number(lexed_.numbers[tok().number]),
                    arena_.negate(arena_.number(lexed_.numbers[tok(length - 1).number]))}));
  } else if (form->arithmetic) {
    const Expr* value = relation();
    if (value != nullptr && at_ == first + length) out.args.push_back(value);
    error_ = {};
  }
  at_ = first + length;
  const Expr* code = arena_.make(std::move(out));
  return measured > 0 ? unit_after(code) : code;
}

const Expr* Parser::element() {
  // The sign # stands before a number or code.
  if (at_ == 0 && is(Tok::kBad) && is_one_of(source(0, 1), "#", "\\#")) ++at_;
  const std::size_t first = at_;
  if (const Expr* code = form()) return code;
  if (!error_.reason.empty()) return nullptr;
  const Scoped<std::size_t> start(element_first_, first);
  return has_logic_ ? implication() : relation();
}

// Returns the currency at a token as read_unit() spells it.
std::string Parser::currency(std::size_t at) const {
  const std::string sign = normal_text(source(at, at + 1));
  if (sign.empty() || sign == "usd") return "$";
  if (sign == "pounds") return "gbp";
  return sign == "￥" ? "¥" : sign;
}

const Expr* Parser::amount(const Expr* value, std::string currency) {
  if (value == nullptr || value->op != Op::kNumber) return value;
  return arena_.make({.op = Op::kUnit, .name = std::move(currency), .args = {value}});
}

// --- statements ----------------------------------------------------------------------------------

// Parses statements joined by arrows, which bind less than "and" and "or".
const Expr* Parser::implication() {
  const Expr* first = disjunction();
  if (first == nullptr || !is(Tok::kRelation)) return first;
  Expr chain{.op = Op::kRelation, .args = {first}};
  while (is(Tok::kRelation)) {
    chain.relations.push_back(tok().rel);
    ++at_;
    chain.args.push_back(disjunction());
    if (chain.args.back() == nullptr) return nullptr;
  }
  return arena_.make(std::move(chain));
}

const Expr* Parser::disjunction() {
  std::vector<const Expr*> parts;
  do {
    std::vector<const Expr*> all;
    do {
      const Scoped<bool> within(in_statement_, true);
      all.push_back(relation());
      if (all.back() == nullptr) return nullptr;
    } while (is(Tok::kLogic) && tok().name == "and" && take(Tok::kLogic));
    parts.push_back(joined_statements(std::move(all), "and"));
  } while (take(Tok::kLogic));
  return joined_statements(std::move(parts), "or");
}

// Joins statements by the sign of "and" or "or". Relations and constants are a list, whose parts
// hold together or not. Names are propositions in any order.
const Expr* Parser::joined_statements(std::vector<const Expr*> parts, std::string_view name) {
  if (parts.size() == 1) return parts.front();
  const auto in_list = [](const Expr* part) {
    return part != nullptr && (part->op == Op::kRelation || is_constant(*part));
  };
  if (std::ranges::all_of(parts, in_list)) {
    const bool either = name == "or";
    return arena_.make({.op = Op::kList,
                        .flag = either,
                        .open = either ? '\0' : '&',
                        .close = either ? '|' : '&',
                        .args = std::move(parts)});
  }
  std::ranges::stable_sort(parts, {}, [](const Expr* part) { return part ? to_text(*part) : ""; });
  return arena_.make(
      {.op = Op::kApply, .name = std::string(name == "or" ? "∨" : "∧"), .args = std::move(parts)});
}

// --- relations ---------------------------------------------------------------------------------

// Parses the left side of \int_0^1 x\,dx = \frac12 and \lim_{x \to 0} x = 0, which is not evaluated
// here, as a name for its value. Returns nullptr for an integral or limit without a value.
const Expr* Parser::carried_out() {
  const std::string_view sign = is(Tok::kBad) ? source(at_, at_ + 1) : std::string_view();
  if (!is_one_of(sign, "\\int", "\\lim", "∫")) return nullptr;
  int depth = 0;
  for (std::size_t n = 1; !is(Tok::kEnd, n); ++n) {
    const Token& token = tok(n);
    if (depth == 0 && token.kind == Tok::kRelation && token.rel == Rel::kEqual) {
      const std::size_t first = std::exchange(at_, at_ + n);
      return arena_.symbol(without_spacing(source(first, at_)));
    }
    depth += is_one_of(token.kind, Tok::kOpen, Tok::kBraceOpen) ? 1 : 0;
    depth -= is_one_of(token.kind, Tok::kClose, Tok::kBraceClose) ? 1 : 0;
    if (depth < 0 || (depth == 0 && is_one_of(token.kind, Tok::kComma, Tok::kSemicolon,
                                              Tok::kRowBreak, Tok::kAmpersand)))
      return nullptr;
  }
  return nullptr;
}

const Expr* Parser::relation() {
  const Expr* first = carried_out();
  if (first == nullptr) first = set_expression();
  const bool reduced =
      first != nullptr && nesting_ == 0 && !is(Tok::kRelation) && is_reduced(*first);
  if (reduced) return arena_.node(Op::kTuple, {first->args[0], first->args[1]});
  if (first != nullptr && (is(Tok::kPmod) || at_bracketed_modulus())) return with_modulus(first);
  if (first == nullptr || !is(Tok::kRelation)) return first;
  Expr chain{.op = Op::kRelation, .args = {first}};
  const auto arrow = [this] { return is_one_of(tok().rel, Rel::kArrow, Rel::kIff); };
  if (in_statement_ && arrow()) return first;
  while (is(Tok::kRelation) && !(in_statement_ && arrow())) {
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

// Reads f(x) \equiv 0 without a modulus as the equation f(x) = 0.
const Expr* Parser::with_identity(const Expr& relation) {
  if (relation.args[0]->op != Op::kApply || is_operation(*relation.args[0])) return &relation;
  Expr chain = relation;
  std::ranges::replace(chain.relations, Rel::kEquivalent, Rel::kEqual);
  return arena_.make(std::move(chain));
}

// Parses the modulus of a = b (mod n) and a \equiv b \mod n.
const Expr* Parser::with_modulus(const Expr* relation) {
  const bool bracketed = at_bracketed_modulus();
  const bool equivalence = relation != nullptr && relation->op == Op::kRelation &&
                           relation->relations.back() == Rel::kEquivalent;
  if (equivalence && relation->args.back()->fn == Fn::kMod) {
    Expr chain = *relation;
    const Expr* residue = chain.args.back();
    if (is_trivial_modulus(*residue->args[1])) return fail("a modulus of 1 or less");
    chain.args.back() = residue->args[0];
    return arena_.node(Op::kTuple, {arena_.make(std::move(chain)), residue->args[1]});
  }
  if (!is(Tok::kPmod) && !bracketed) return equivalence ? with_identity(*relation) : relation;
  at_ += bracketed ? 2 : 1;
  const Expr* modulus = bracketed ? sum() : fraction_part();
  if (modulus != nullptr && is_trivial_modulus(*modulus)) return fail("a modulus of 1 or less");
  if (bracketed && !take(Tok::kClose)) return fail("the modulus is not closed");
  return arena_.node(Op::kTuple, {relation, modulus});
}

const Expr* Parser::set_operation(Tok kind, const Expr* left, const Expr* right) {
  if (kind == Tok::kCup) return arena_.node(Op::kUnion, {left, right});
  if (kind == Tok::kCap) return arena_.node(Op::kIntersection, {left, right});
  return arena_.node(Op::kDifference, {left, right});
}

// Returns whether a minus sign removes a set, as in \mathbb{R} - \{0\}.
bool Parser::parts_from_set(const Expr& left) const {
  return is(Tok::kMinus) &&
         is_one_of(left.op, Op::kNamedSet, Op::kUnion, Op::kDifference, Op::kSetBuilder) &&
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

Parsed parse(std::string_view text, expr::Arena& arena, bool bare_fractions) {
  const TextRules rules = {.is_formula = is_formula, .parts_of_sum = parts_of_sum};
  const Lexed lexed = lex(text, arena.budget(), rules);
  Parsed out;
  for (const bool bars_nest : {false, true}) {
    if (arena.budget().exhausted()) break;
    Parser parser(text, lexed, arena, bars_nest, bare_fractions);
    out.tree = parser.answer();
    if (!bars_nest || out.tree != nullptr) out.error = parser.error();
    // It is ambiguous which bars match. If the first attempt fails, the other is made.
    if (out.tree != nullptr || !parser.saw_bar()) break;
  }
  if (arena.budget().exhausted()) out.tree = nullptr;
  return out;
}

}  // namespace lie::latex
