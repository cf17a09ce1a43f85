// The table of docs/design/verifier.md is true: each row has a gold, answers that equal it, and
// answers that do not.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/directories.h"
#include "tests/verifier/expect_answer.h"

namespace lie::docs_table {
namespace {

using verifier_test::expect;

// Splits a row of a Markdown table. A bar after a backslash belongs to a cell.
std::vector<std::string> cells(std::string_view row) {
  std::vector<std::string> out(1);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|')
      out.back().push_back(row[++i]);
    else if (row[i] == '|')
      out.emplace_back();
    else
      out.back().push_back(row[i]);
  }
  out.pop_back();
  return out;
}

std::vector<std::string> code_spans(std::string_view cell) {
  std::vector<std::string> out;
  for (std::size_t at = cell.find('`'); at != std::string_view::npos; at = cell.find('`', at + 1)) {
    const std::size_t end = cell.find('`', at + 1);
    out.emplace_back(cell.substr(at + 1, end - at - 1));
    at = end;
  }
  return out;
}

TEST(DocsTable, IsTrue) {
  std::ifstream in(std::string(source_directory()) + "/docs/design/verifier.md");
  std::string line;
  while (std::getline(in, line) && !line.starts_with("| | gold |")) {
  }
  std::getline(in, line);  // the rule below the titles
  int rows = 0;
  for (; std::getline(in, line) && line.starts_with('|'); ++rows) {
    const std::vector<std::string> row = cells(line);
    ASSERT_EQ(row.size(), 4U) << line;
    const std::vector<std::string> gold = code_spans(row[1]);
    ASSERT_EQ(gold.size(), 1U) << line;
    for (const std::string& answer : code_spans(row[2])) expect(true, gold[0], answer);
    for (const std::string& answer : code_spans(row[3])) expect(false, gold[0], answer);
    EXPECT_FALSE(code_spans(row[2]).empty() || code_spans(row[3]).empty()) << line;
  }
  EXPECT_GT(rows, 80);
}

}  // namespace
}  // namespace lie::docs_table
