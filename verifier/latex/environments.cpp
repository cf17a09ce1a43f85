// Parses \begin{...} ... \end{...}: matrices, cases and systems.
#include <algorithm>

#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"

namespace lie::latex {

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
  ++at_;
  if (name == "array" || name == "tabular") skip_column_spec();
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
  if (name == "cases" || relations) return cases(cells);
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
