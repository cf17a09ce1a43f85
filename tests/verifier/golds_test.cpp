// Each gold of the shared problem sets equals itself in a box, and no whole number equals another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "tests/verifier/corpus.h"
#include "verifier/verify.h"

namespace lie {
namespace {

VerdictCode code_of(const std::string& gold, const std::string& answer,
                    const VerifierOptions& options) {
  return verify(gold, fmt::format("\\boxed{{{}}}", answer), options).code;
}

TEST(Golds, EachEqualsItselfInABox) {
  const auto sets = published_golds();
  if (sets.empty()) GTEST_SKIP() << "no shared/data/problems beside the repository";
  VerifierOptions options;
  options.identical_text = false;
  std::size_t all = 0, equal = 0;
  for (const auto& [file, list] : sets) {
    for (const std::string& gold : list) {
      const VerdictCode code = code_of(gold, gold, options);
      ++all;
      equal += code == VerdictCode::kEqual ? 1 : 0;
      if (code != VerdictCode::kEqual)
        std::cout << file << " " << name(code) << " " << gold << "\n";
    }
  }
  std::cout << equal << " of " << all << " golds equal themselves\n";
  EXPECT_GE(static_cast<double>(equal), 0.999 * static_cast<double>(all));
}

TEST(Golds, EachEqualsItselfAsAPlainAnswerInLenientMode) {
  if (published_golds().empty()) GTEST_SKIP() << "no published golds here";
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  for (const auto& [file, list] : published_golds())
    for (const std::string& gold : list)
      for (const std::string& response :
           {fmt::format("The answer is ${}$.", gold), fmt::format("Answer: {}", gold)})
        EXPECT_TRUE(verify(gold, response, options).correct()) << file << " " << response;
}

TEST(Golds, UnreadableGoldsAreNamedWithTheReason) {
  for (const char* gold : {"5", "\\frac12", "$x=3$", "A", "\\text{no solution}", "\\boxed{7}",
                           "(1, 2)", "1,000", "12 \\text{ cm}"})
    EXPECT_EQ(unreadable_gold(gold), "") << gold;
  VerifierOptions lenient;
  lenient.mode = ExtractionMode::kLenient;
  for (const char* gold : {"", "  ", "\\frac{1}{", "3 + * 4", "\\nosuchname 3"}) {
    EXPECT_NE(unreadable_gold(gold), "") << gold;
    EXPECT_NE(unreadable_gold(gold, lenient), "") << gold;
  }
}

TEST(Golds, FewPublishedGoldsAreUnreadable) {
  const auto sets = published_golds();
  if (sets.empty()) GTEST_SKIP() << "no shared/data/problems beside the repository";
  std::size_t all = 0, unreadable = 0;
  for (const auto& [file, list] : sets) {
    for (const std::string& gold : list) {
      const std::string reason = unreadable_gold(gold);
      ++all;
      unreadable += reason.empty() ? 0 : 1;
    }
  }
  std::cout << unreadable << " of " << all << " golds cannot be read\n";
  EXPECT_LE(static_cast<double>(unreadable), 0.01 * static_cast<double>(all));
}

// Only golds that are whole numbers are used, because different spellings have different values.
TEST(Golds, DifferentWholeNumbersAreDifferent) {
  const auto sets = published_golds();
  if (sets.empty()) GTEST_SKIP() << "no shared/data/problems beside the repository";
  for (const auto& [file, list] : sets) {
    std::set<std::string> whole;
    for (const std::string& gold : list)
      if (gold.find_first_not_of("0123456789") == std::string::npos && gold.front() != '0')
        whole.insert(gold);
    for (auto a = whole.begin(); a != whole.end() && std::next(a) != whole.end(); ++a)
      EXPECT_EQ(code_of(*a, *std::next(a), {}), VerdictCode::kUnequal) << file << " " << *a;
  }
}

}  // namespace
}  // namespace lie
