// A surrogate or an advantage estimator consists of a pair of files and one line of its list. No
// other source may contain its name.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/house/named_files.h"

namespace {

struct Entry {
  std::string file;               // of the pair, without extension
  std::string list;               // the header with the list
  std::string names;              // pattern of its identifiers, keys and values of keys
  std::set<std::string> users{};  // sources that set its options for a user who has no config
};

class Losses : public ::testing::TestWithParam<Entry> {};

TEST_P(Losses, AreNamedInTheirPairOfFilesAndTheListOnly) {
  const Entry& entry = GetParam();
  const std::set<std::string> named = lie::files_that_match(std::regex(entry.names));
  std::set<std::string> expected = {entry.file + ".cpp", entry.file + ".h", entry.list};
  expected.insert(entry.users.begin(), entry.users.end());
  EXPECT_EQ(named, expected);
}

const std::string kSurrogates = "learner/loss/surrogate/surrogates.h";
const std::string kEstimators = "learner/advantage/advantages.h";

INSTANTIATE_TEST_SUITE_P(
    House, Losses,
    ::testing::Values(
        Entry{
            "learner/loss/surrogate/clip",
            kSurrogates,
            R"~(ClipOptions|clipped_loss|\bclip_(low|high)\b|\bdual_clip\b|"(clip|grpo|gspo|luspo)")~",
            {"tools/cluster/init.cpp"}},
        Entry{"learner/loss/surrogate/cispo", kSurrogates, R"~(CispoOptions|cispo_loss|"cispo")~"},
        Entry{"learner/loss/surrogate/sapo", kSurrogates, R"~(SapoOptions|sapo_loss|"sapo")~"},
        Entry{"learner/loss/surrogate/gmpo", kSurrogates, R"~(GmpoOptions|gmpo_loss|"gmpo")~"},
        Entry{"learner/loss/surrogate/vespo", kSurrogates, R"~(VespoOptions|vespo_w|"vespo")~"},
        Entry{"learner/loss/surrogate/dppo", kSurrogates, R"~(DppoOptions|dppo_loss|"dppo")~"},
        Entry{"learner/advantage/group_relative", kEstimators,
              R"(GroupRelative|group_advantages|\bleave_one_out\b)"},
        Entry{"learner/advantage/maxrl", kEstimators, R"~(MaxRl|"maxrl")~"},
        Entry{"learner/advantage/gdpo", kEstimators, R"~(Gdpo|"gdpo")~"},
        Entry{"learner/advantage/pass_at_k", kEstimators, R"~(PassAtKOptions|"pass_at_k")~"},
        Entry{"learner/advantage/batch_normalized", kEstimators, "BatchNormalized"},
        Entry{"learner/advantage/length_weighted", kEstimators, "LengthWeighted|length_weighted"},
        Entry{"learner/advantage/vl_norm", kEstimators, "VlNorm|vl_norm"}),
    [](const auto& entry) { return entry.param.file.substr(entry.param.file.rfind('/') + 1); });

}  // namespace
