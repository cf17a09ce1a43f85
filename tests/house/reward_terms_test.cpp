// A built-in reward term consists of a pair of files and one line of the list. No other source may
// contain its name.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/house/named_files.h"

namespace {

struct Term {
  std::string file;
  std::string names;  // pattern of its identifiers, columns and metrics
};

class RewardTerms : public ::testing::TestWithParam<Term> {};

TEST_P(RewardTerms, AreNamedInTheirPairOfFilesAndTheListOnly) {
  const auto& [file, names] = GetParam();
  const std::set<std::string> named = lie::files_that_match(std::regex(names));
  const std::set<std::string> expected = {"rewards/" + file + ".cpp", "rewards/" + file + ".h",
                                          "rewards/terms.h"};
  EXPECT_EQ(named, expected);
}

INSTANTIATE_TEST_SUITE_P(
    House, RewardTerms,
    ::testing::Values(
        Term{"coverage_bonus", "coverage_bonus|CoverageBonus|coverage bonus"},
        Term{"gr3", "[Gg]r3"}, Term{"cosine", "CosineReward|cosine_reward|cut_penalty"},
        Term{"redundancy", "redundancy|Redundancy|R_red"}, Term{"overlong", "[Oo]verlong"},
        Term{"accuracy", "accuracy_reward|AccuracyReward|reward_accuracy|advantage_mass_accuracy"},
        Term{"length", "length_reward|LengthReward|reward_length|advantage_mass_length|R_len"}),
    [](const auto& term) { return term.param.file; });

}  // namespace
