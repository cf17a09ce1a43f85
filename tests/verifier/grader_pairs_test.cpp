// Pairs of other graders and of data sets. Each line of grader_pairs.tsv is a verdict, a source, a
// gold and an answer. The verdict of the source is "=" (equal) or "!". A "?" after it means that
// the verifier decides the opposite, for the reasons in docs/design/verifier.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/directories.h"
#include "verifier/verify.h"

namespace lie {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t')
      fields.emplace_back();
    else
      fields.back().push_back(c);
  }
  return fields;
}

std::vector<std::vector<std::string>> table() {
  std::ifstream in(std::string(source_directory()) + "/tests/verifier/grader_pairs.tsv");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(fields_of(line));
  return rows;
}

bool is_equal(const std::string& mark) { return mark == "=" || mark == "!?"; }

TEST(GraderPairs, AreDecidedAsTheTableSays) {
  std::map<std::string, int> rows;
  for (const std::vector<std::string>& row : table()) {
    ASSERT_EQ(row.size(), 4U);
    ++rows[row[0]];
    const Verdict verdict = verify(row[2], fmt::format("\\boxed{{{}}}", row[3]));
    EXPECT_EQ(verdict.correct(), is_equal(row[0]))
        << row[2] << " against " << row[3] << ": " << verdict.reason;
  }
  EXPECT_GT(rows["="], 500);
  EXPECT_GT(rows["!"], 300);
  EXPECT_LT(rows["=?"] + rows["!?"], 90);
}

// Steps may run out anywhere, such as between the end points of inequalities.
TEST(GraderPairs, AnyStepBudgetGivesAVerdict) {
  VerifierOptions options;
  options.identical_text = false;
  for (options.max_steps = 100; options.max_steps < 400; options.max_steps += 13) {
    for (const std::vector<std::string>& row : table()) {
      const Verdict verdict = verify(row[2], fmt::format("\\boxed{{{}}}", row[3]), options);
      EXPECT_FALSE(verdict.correct() && !is_equal(row[0])) << row[2] << " against " << row[3];
    }
  }
}

}  // namespace
}  // namespace lie
