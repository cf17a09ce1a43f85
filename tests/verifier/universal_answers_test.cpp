// Answers that would fit many golds are accepted only for golds that they equal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/directories.h"
#include "tests/verifier/corpus.h"
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

std::string boxed(const std::string& answer) { return fmt::format("\\boxed{{{}}}", answer); }
std::string in_a_sentence(const std::string& answer) {
  return fmt::format("The answer is ${}$.", answer);
}

VerifierOptions lenient() {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  return options;
}

TEST(UniversalAnswers, AreAcceptedOnlyForGoldsThatTheyEqual) {
  const std::vector<std::string> answers = lines("universal_answers.txt");
  const std::vector<std::string> golds = lines("golds.txt");
  const auto equal = equal_pairs();
  ASSERT_GT(answers.size(), 150U);
  ASSERT_GT(golds.size(), 300U);
  for (const std::string& answer : answers) {
    for (const std::string& gold : golds) {
      const bool same = equal.contains({answer, gold}) || answer == gold;
      EXPECT_EQ(verify(gold, boxed(answer)).correct(), same) << answer << " for " << gold;
      for (const std::string& response : {boxed(answer), in_a_sentence(answer)})
        EXPECT_EQ(verify(gold, response, lenient()).correct(), same) << response << " for " << gold;
    }
  }
}

// Lenient mode finds answers in more places, and its comparison is that of reward mode. Every
// eighth gold keeps the test short.
TEST(UniversalAnswers, AreAcceptedInLenientModeOnlyWhereRewardModeAcceptsThem) {
  const auto sets = published_golds();
  if (sets.empty()) GTEST_SKIP() << "no shared/data/problems beside the repository";
  std::set<std::string> golds;
  std::size_t row = 0, accepted = 0;
  for (const auto& [file, list] : sets)
    for (const std::string& gold : list)
      if (row++ % 8 == 0) golds.insert(gold);
  for (const std::string& answer : lines("universal_answers.txt")) {
    for (const std::string& gold : golds) {
      const bool same = verify(gold, boxed(answer)).correct();
      accepted += same ? 1 : 0;
      EXPECT_EQ(verify(gold, in_a_sentence(answer), lenient()).correct(), same)
          << answer << " for " << gold;
    }
  }
  std::cout << accepted << " answers accepted for " << golds.size() << " golds\n";
}

}  // namespace
}  // namespace lie
