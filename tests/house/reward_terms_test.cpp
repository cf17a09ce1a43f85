// A built-in reward term consists of a pair of files and one line of the list. No other source may
// contain its name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/directories.h"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kSourceFolders = {"actors",  "common",   "learner", "model",
                                                 "rewards", "verifier", "tools"};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> files_that_match(const std::regex& name) {
  const fs::path root = lie::source_directory();
  std::set<std::string> files;
  for (const std::string& folder : kSourceFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp") continue;
      if (std::regex_search(text_of(path), name)) files.insert(fs::relative(path, root).string());
    }
  }
  return files;
}

struct Term {
  std::string file;
  std::string names;  // pattern of its identifiers, columns and metrics
};

class RewardTerms : public ::testing::TestWithParam<Term> {};

TEST_P(RewardTerms, AreNamedInTheirPairOfFilesAndTheListOnly) {
  const auto& [file, names] = GetParam();
  const std::set<std::string> named = files_that_match(std::regex(names));
  const std::set<std::string> expected = {"rewards/" + file + ".cpp", "rewards/" + file + ".h",
                                          "rewards/terms.h"};
  EXPECT_EQ(named, expected);
}

INSTANTIATE_TEST_SUITE_P(
    House, RewardTerms,
    ::testing::Values(
        Term{"coverage_bonus", "coverage_bonus|CoverageBonus|coverage bonus"},
        Term{"redundancy", "redundancy|Redundancy|R_red"}, Term{"overlong", "[Oo]verlong"},
        Term{"accuracy", "accuracy_reward|AccuracyReward|reward_accuracy|advantage_mass_accuracy"},
        Term{"length", "length_reward|LengthReward|reward_length|advantage_mass_length|R_len"}),
    [](const auto& term) { return term.param.file; });

}  // namespace
