// Parses groups, tuples, intervals, sets, bars and environments.
#include <algorithm>

#include "verifier/latex/parity.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"

namespace lie::latex {

// Makes a list, set or tuple of several items. A single item of a list stands for itself.
const Expr* Parser::group_value(std::vector<const Expr*> items, bool any_or, Op op) {
  if (items.size() == 1 && op == Op::kList) return items.front();
  const char open = op == Op::kList && saw_and_ ? '&' : '\0';
  return arena_.make({.op = op, .flag = any_or, .open = open, .args = std::move(items)});
}

// Parses { ... } of TeX: a group, a list with commas, or a binomial or fraction with \choose or
// \over.
const Expr* Parser::braces() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  if (at_selection()) return selection();
  const Scoped<bool> no_thousands(thousands_ok_, false);
  const Scoped<bool> not_set(in_set_, false);
  ++at_;
  std::vector<std::vector<const Expr*>> groups(1);
  bool any_or = false;
  if (!list(groups.back(), any_or)) return fail("an empty group");
  if (groups.back().size() == 1 && (is(Tok::kChoose) || is(Tok::kOver)))
    return infix_fraction(groups.back().front());
  while (take(Tok::kSemicolon) && !is(Tok::kBraceClose))
    if (!list(groups.emplace_back(), any_or)) return nullptr;
  if (!take(Tok::kBraceClose)) return fail("a group is not closed");
  if (groups.size() > 1) return join(std::move(groups), any_or);
  std::vector<const Expr*>& items = groups.front();
  return items.size() == 1 ? items.front() : group_value(std::move(items), any_or, Op::kList);
}

// Parses the rest of {n \choose k} and {a \over b}.
const Expr* Parser::infix_fraction(const Expr* above) {
  const bool over = is(Tok::kOver);
  ++at_;
  const Expr* below = sum();
  if (!take(Tok::kBraceClose)) return fail("a group is not closed");
  return over ? arena_.divide(above, below) : arena_.call(Fn::kBinomial, {above, below});
}

const Expr* Parser::brackets() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  const Scoped<bool> no_thousands(thousands_ok_, false);
  const Scoped<int> fresh_bars(open_bars_, 0);
  const char open = tok().bracket;
  if (open == '{') return set_braces();
  const Scoped<bool> not_set(in_set_, false);
  const Scoped<bool> ratio(colon_is_ratio_, true);
  if (open == 'F') return ++at_, enclosed(Fn::kFloor, 'F');
  if (open == 'C') return ++at_, enclosed(Fn::kCeil, 'C');
  if (open == '|') return ++at_, enclosed(Fn::kAbs, '|');
  if (open == 'N') return ++at_, enclosed(Fn::kNorm, 'N');
  ++at_;
  std::vector<const Expr*> items;
  bool any_or = false;
  do {
    if (!list(items, any_or)) return fail("empty brackets");
  } while (take(Tok::kSemicolon));
  return close_tuple(std::move(items), open == 'A' ? '(' : open, any_or);
}

// Takes the closing bracket. Matching brackets around one item are a group, others a tuple.
const Expr* Parser::close_tuple(std::vector<const Expr*> items, char open, bool any_or) {
  if (!is(Tok::kClose) || tok().bracket == '}') return fail("a bracket is not closed");
  const char close = tok().bracket == ']' ? ']' : ')';
  ++at_;
  const bool matches = (open == '(') == (close == ')');
  if (items.size() == 1) return matches ? items.front() : fail("brackets that do not match");
  return tuple(std::move(items), open, close, any_or);
}

const Expr* Parser::tuple(std::vector<const Expr*> items, char open, char close, bool any_or) {
  return arena_.make(
      {.op = Op::kTuple, .flag = any_or, .open = open, .close = close, .args = std::move(items)});
}

const Expr* Parser::set_braces() {
  const Scoped<bool> in_set(in_set_, true);
  const Scoped<bool> no_ratio(colon_is_ratio_, false);
  ++at_;
  if (is_close('}')) return ++at_, arena_.named(Op::kNamedSet, "empty");
  if (is(Tok::kBegin) && tok().name.find("matrix") == std::string_view::npos) {
    const Expr* system = environment();
    if (is_close('}')) ++at_;
    return system;
  }
  std::vector<const Expr*> items;
  bool any_or = false;
  do {
    if (!list(items, any_or)) return fail("an empty set");
  } while (take(Tok::kSemicolon));
  if (is(Tok::kBar) || is(Tok::kMid) || is(Tok::kColon))
    return set_builder(group_value(std::move(items), any_or, Op::kList));
  if (!is_close('}')) return fail("a set is not closed");
  ++at_;
  return group_value(std::move(items), any_or, Op::kSet);
}

// Parses the conditions of a set builder. {x \in S | ...} becomes {x | ..., x \in S}, without the
// reals.
const Expr* Parser::set_builder(const Expr* head) {
  ++at_;
  const Scoped<bool> not_head(in_set_, false);
  const bool member = head != nullptr && head->op == Op::kRelation && head->args.size() == 2 &&
                      head->relations[0] == Rel::kIn;
  std::vector<const Expr*> conditions;
  bool any_or = false;
  if (!list(conditions, any_or)) return nullptr;
  if (!is_close('}')) return fail("a set is not closed");
  ++at_;
  std::vector<const Expr*> parts = {member ? head->args[0] : head,
                                    group_value(std::move(conditions), any_or, Op::kList)};
  if (member && head->args[1]->name != "R") parts.push_back(head);
  return arena_.node(Op::kSetBuilder, std::move(parts));
}

// Parses |x| and \|v\|. A bar after an operand closes, except in the second attempt.
const Expr* Parser::bars() {
  saw_bar_ = true;
  const Tok sign = tok().kind;
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  const Scoped<int> one_more(open_bars_, open_bars_ + 1);
  ++at_;
  const Expr* inner = sum();
  if (inner == nullptr) return fail("nothing between bars");
  if (!take(sign)) return fail("a bar is not closed");
  return arena_.call(sign == Tok::kBar ? Fn::kAbs : Fn::kNorm, {inner});
}

const Expr* Parser::enclosed(Fn fn, char close) {
  const Expr* inner = sum();
  const bool bar = close == '|' && is(Tok::kBar);
  if (inner == nullptr || !(is_close(close) || bar)) return fail("a bracket is not closed");
  ++at_;
  return arena_.call(fn, {inner});
}

// --- environments ------------------------------------------------------------------------------

// Skips {ccc} after \begin{array}.
void Parser::skip_column_spec() {
  if (!take(Tok::kBraceOpen)) return;
  while (!is(Tok::kBraceClose) && !is(Tok::kEnd)) ++at_;
  take(Tok::kBraceClose);
}

const Expr* Parser::environment() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  std::string_view name = tok().name;
  const bool after_brace =
      at_ > 0 && lexed_.tokens[at_ - 1].kind == Tok::kOpen && lexed_.tokens[at_ - 1].bracket == '{';
  ++at_;
  if (is_one_of(name, "array", "tabular", "alignat", "alignat*", "alignedat")) skip_column_spec();
  const Scoped<bool> no_thousands(thousands_ok_, false);
  std::vector<std::vector<const Expr*>> cells;
  if (!rows(cells)) return nullptr;
  if (!is(Tok::kEndEnvironment) || tok().name != name) return fail("an environment is not closed");
  ++at_;
  if (cells.empty()) return fail("an empty environment");
  const bool relations = std::ranges::any_of(
      cells, [](const auto& row) { return !row.empty() && row.front()->op == Op::kRelation; });
  if (name == "vmatrix") return arena_.call(Fn::kDet, {matrix(cells)});
  if (name == "Vmatrix") return arena_.call(Fn::kNorm, {matrix(cells)});
  if (name.find("matrix") != std::string_view::npos) return matrix(cells);
  const bool pieces = after_brace && cells.front().size() > 1;
  if (name == "cases" || relations || pieces) return cases(cells);
  const bool one = cells.size() == 1 && cells.front().size() == 1;
  if (name == "array" && !one) return matrix(cells);
  return cases(cells);
}

// Takes the word of a condition, as in \text{if } x > 0.
bool Parser::take_condition_word() {
  if (!is(Tok::kText) || is_one_of(tok(1).kind, Tok::kRowBreak, Tok::kEndEnvironment)) return false;
  const std::string word = normal_text(tok().name);
  return is_one_of(word, "if", "for", "when", "where") && take(Tok::kText);
}

// Parses a cell such as \text{if $n$ is even} as n \equiv 0 \pmod{2}. Returns nullptr for others.
const Expr* Parser::parity() {
  constexpr std::size_t kMostTokens = 8;
  std::size_t n = 0;
  while (n < kMostTokens &&
         is_one_of(tok(n).kind, Tok::kText, Tok::kWord, Tok::kSymbol, Tok::kComma, Tok::kPeriod))
    ++n;
  if (n == 0 || !is_one_of(tok(n).kind, Tok::kAmpersand, Tok::kRowBreak, Tok::kEndEnvironment))
    return nullptr;
  const std::optional<Parity> said = read_parity(unit_text(source(at_, at_ + n)));
  if (!said) return nullptr;
  at_ += n;
  Expr residue{.op = Op::kRelation, .relations = {Rel::kEquivalent}};
  residue.args = {arena_.symbol(std::string(1, said->name)), arena_.number(said->odd ? 1 : 0)};
  return arena_.node(Op::kTuple, {arena_.make(std::move(residue)), arena_.number(2)});
}

// Parses the cells up to \end, in rows. Empty cells, as next to an alignment mark, are skipped.
bool Parser::rows(std::vector<std::vector<const Expr*>>& rows) {
  std::vector<const Expr*> row;
  while (true) {
    if (take(Tok::kRowBreak)) {
      if (!row.empty()) rows.push_back(std::move(row));
      row.clear();
    } else if (is(Tok::kEndEnvironment) || is(Tok::kEnd)) {
      if (!row.empty()) rows.push_back(std::move(row));
      return true;
    } else if (const Expr* condition = parity()) {
      row.push_back(condition);
    } else if (!take(Tok::kAmpersand) && !take_condition_word()) {
      std::vector<const Expr*> items;
      bool any_or = false;
      if (!list(items, any_or)) return false;
      row.push_back(group_value(std::move(items), any_or, Op::kList));
      if (!is(Tok::kRowBreak) && !is(Tok::kAmpersand) && !is(Tok::kEndEnvironment) &&
          !take(Tok::kPeriod)) {
        fail("a cell is not understood");
        return false;
      }
    }
  }
}

const Expr* Parser::matrix(const std::vector<std::vector<const Expr*>>& rows) {
  Expr out;
  out.op = Op::kMatrix;
  out.columns = static_cast<std::int32_t>(rows.front().size());
  for (const auto& row : rows) {
    if (row.size() != rows.front().size()) return fail("rows of different lengths");
    out.args.insert(out.args.end(), row.begin(), row.end());
  }
  return arena_.make(std::move(out));
}

// Makes cases of rows with a value and a condition, which have two columns. Rows of one cell are a
// list.
const Expr* Parser::cases(const std::vector<std::vector<const Expr*>>& rows) {
  Expr out;
  out.op = std::ranges::any_of(rows, [](const auto& row) { return row.size() > 1; }) ? Op::kCases
                                                                                     : Op::kList;
  if (std::ranges::all_of(rows, [](const auto& row) { return row.size() == 2; })) out.columns = 2;
  for (const auto& row : rows) out.args.insert(out.args.end(), row.begin(), row.end());
  return out.args.size() == 1 ? out.args.front() : arena_.make(std::move(out));
}

}  // namespace lie::latex
