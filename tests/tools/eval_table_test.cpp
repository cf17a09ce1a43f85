#include "tools/eval/eval_table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "common/io/json.h"

namespace lie::evaluation {
namespace {

/// Returns a problem whose samples are correct as given. Correct and incorrect samples have one
/// answer class each.
GradedProblem problem(const std::string& source, const std::vector<bool>& right) {
  GradedProblem graded;
  graded.data_source = source;
  for (const bool is_right : right) {
    GradedSample sample;
    sample.right = is_right;
    sample.verdict = is_right ? VerdictCode::kEqual : VerdictCode::kNoAnswer;
    sample.answer = is_right ? "1" : "";
    sample.tokens = is_right ? 10 : 30;
    sample.truncated = !is_right;
    sample.right_at = {static_cast<char>(is_right)};
    graded.samples.push_back(sample);
    graded.answer_class.push_back(is_right ? 0 : -1);
  }
  return graded;
}

const TableOptions kOptions{.budgets = {20}, .ks = {1, 2, 4}};

const std::vector<GradedProblem>& problems() {
  static const std::vector<GradedProblem> kProblems = {
      problem("b", {true, false}), problem("b", {false, false}), problem("b", {true, true}),
      problem("a", {true, true})};
  return kProblems;
}

TEST(EvalTable, HasSourcesThenAllProblemsThenTheMeanOfSources) {
  const Table table = make_table(problems(), kOptions);
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0].data_source, "a");
  EXPECT_EQ(table.rows[0].average.value, 1.0);
  EXPECT_EQ(table.rows[1].data_source, "b");
  EXPECT_DOUBLE_EQ(table.rows[1].average.value, 0.5);
  EXPECT_EQ(table.rows[2].data_source, "all problems");
  EXPECT_EQ(table.rows[2].problems, 4);
  EXPECT_EQ(table.rows[2].samples, 8);
  EXPECT_DOUBLE_EQ(table.rows[2].average.value, 2.5 / 4);
  EXPECT_EQ(table.rows[3].data_source, "mean of sources");
  EXPECT_DOUBLE_EQ(table.rows[3].average.value, 0.75);
  EXPECT_DOUBLE_EQ(table.rows[3].budgets[0].second.value, 0.75);  // as the total
  const TableRow& b = table.rows[1];
  ASSERT_EQ(b.pass.size(), 2u);  // no problem has 4 samples
  EXPECT_DOUBLE_EQ(b.pass[1].second.value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(b.majority[1].second.value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(b.length, 20);
  EXPECT_DOUBLE_EQ(b.truncated, 0.5);
  EXPECT_DOUBLE_EQ(b.no_answer, 0.5);
}

TEST(EvalTable, HasNoVotesWhereACorrectSampleHasNoAnswer) {
  std::vector<GradedProblem> graded = problems();
  graded[0].samples[0].answer = "";  // as of a verifier program that gives no answers
  const Table table = make_table(graded, kOptions);
  for (const TableRow& row : table.rows) EXPECT_TRUE(row.majority.empty()) << row.data_source;
  EXPECT_NE(table_text(table).find("There is no maj@k,"), std::string::npos);
  EXPECT_EQ(table_text(make_table(problems(), kOptions)).find("no maj@k"), std::string::npos);
}

TEST(EvalTable, EqualSamplesGiveNoFalseCertainty) {
  std::vector<GradedProblem> wrong;
  for (int i = 0; i < 200; ++i) wrong.push_back(problem("a", {false}));
  const Table table = make_table(wrong, kOptions);
  ASSERT_EQ(table.rows.size(), 2u);  // one source: no mean of sources
  const Estimate average = table.rows[0].average;
  EXPECT_NEAR(average.low, 0, 1e-15);
  EXPECT_NEAR(average.high, 0.019, 0.001);  // Wilson's bound of 0 in 200, by Student's quantile
  EXPECT_EQ(table.rows[0].budgets[0].second.high, average.high);
  EXPECT_EQ(table.rows[0].pass[0].second.high, average.high);
}

TEST(EvalTable, AMeanOfSourcesHasNoVarianceBetweenThem) {
  std::vector<GradedProblem> mixed;
  for (int i = 0; i < 50; ++i) mixed.push_back(problem("a", {false, false}));
  for (int i = 0; i < 50; ++i) mixed.push_back(problem("b", {true, true}));
  const Table table = make_table(mixed, kOptions);
  const auto width = [&](std::size_t row) {
    return table.rows[row].average.high - table.rows[row].average.low;
  };
  EXPECT_LT(width(3), 0.8 * width(2));  // the sources themselves are not drawn
}

TEST(EvalTable, OneProblemHasNoInterval) {
  const std::string text =
      table_text(make_table(std::vector{problem("a", {true, false})}, kOptions));
  EXPECT_NE(text.find("50.0"), std::string::npos);
  EXPECT_EQ(text.find('['), std::string::npos) << text;
  EXPECT_NE(text.find("One problem of a source has no interval."), std::string::npos);
}

TEST(EvalTable, RowsOfSourcesThatAreNotAsciiAreAligned) {
  const std::string source = "\xC3\xA9preuve";  // 7 characters, 8 bytes
  const std::string text = table_text(make_table(
      std::vector{problem(source, {true, false}), problem("b", {true, true})}, kOptions));
  EXPECT_NE(text.find("\n" + source + "                 1"), std::string::npos) << text;
  EXPECT_NE(text.find("\nb                       1"), std::string::npos) << text;
}

TEST(EvalTable, TextAndJsonHoldTheSameValues) {
  const Table table = make_table(problems(), kOptions);
  const std::string text = table_text(table);
  EXPECT_NE(text.find("mean of sources         4        8   75.0 [9.2, 98.9]"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("pass@4"), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << text;
  EXPECT_NE(text.find("\n\ndata source "), std::string::npos) << "continues in a further block";
  const Json json = table_json(table);
  EXPECT_EQ(json["rows"][1]["data_source"], "b");
  EXPECT_EQ(json["rows"][1]["budgets"]["20"]["value"], 0.5);
  EXPECT_EQ(json["rows"][3]["average"]["value"], 0.75);
  EXPECT_FALSE(json["rows"][0]["pass"].contains("4"));
}

}  // namespace
}  // namespace lie::evaluation
