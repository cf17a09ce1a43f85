// Answers that would fit many golds are accepted only for golds that they equal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/directories.h"
#include "verifier/verify.h"

namespace lie {
namespace {

std::vector<std::string> lines(const std::string& file) {
  std::ifstream in(std::string(source_directory()) + "/tests/verifier/golden/" + file);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && !line.starts_with("# ")) out.push_back(line);
  return out;
}

// Reads universal_equal.tsv, which lists every pair that is equal: an answer, a tab, a gold.
std::set<std::pair<std::string, std::string>> equal_pairs() {
  std::set<std::pair<std::string, std::string>> out;
  for (const std::string& line : lines("universal_equal.tsv")) {
    const std::size_t tab = line.find('\t');
    out.emplace(line.substr(0, tab), line.substr(tab + 1));
  }
  return out;
}

TEST(UniversalAnswers, AreAcceptedOnlyForGoldsThatTheyEqual) {
  const std::vector<std::string> answers = lines("universal_answers.txt");
  const std::vector<std::string> golds = lines("golds.txt");
  const auto equal = equal_pairs();
  ASSERT_GT(answers.size(), 150U);
  ASSERT_GT(golds.size(), 300U);
  for (const std::string& answer : answers) {
    for (const std::string& gold : golds) {
      const Verdict verdict = verify(gold, fmt::format("\\boxed{{{}}}", answer));
      EXPECT_EQ(verdict.correct(), equal.contains({answer, gold}) || answer == gold)
          << answer << " for " << gold;
    }
  }
}

}  // namespace
}  // namespace lie
