#include "tools/study/study.h"

#include <gtest/gtest.h>

#include "common/base/error.h"
#include "common/io/file.h"
#include "tests/temporary_directory.h"
#include "tools/study/study_report.h"

namespace lie::study {
namespace {

constexpr const char* kRows =
    "plain:\n  table: First\n  reward: {length: {enabled: false}}\n"
    "full:\n  table: First\n  against: plain\n"
    "wide:\n  table: Second\n  against: full\n  policy_loss: {clip_high: 2.8e-1}\n"
    "unborn:\n  table: Third\n";

/// A study's directory under construction.
class StudyTest : public testing::Test {
 protected:
  StudyTest() { directory_.write("rows.yaml", kRows); }

  /// A run of two steps that ends with this held-out accuracy; `settings` beside its seed.
  void add_run(const std::string& row, int seed, double accuracy, const std::string& settings) {
    const fs::path run = directory_.path() / row / fmt::format("seed-{}", seed);
    make_directories(run);
    write_file_atomically(run / "config.yaml",
                          fmt::format("run: {{seed: {}, steps: 2}}\n{}\n", seed, settings));
    write_file_atomically(
        run / "metrics.jsonl",
        fmt::format("{{\"step\":0,\"wall_time\":1,\"eval_accuracy\":0.5}}\n"
                    "{{\"step\":1,\"wall_time\":1,\"wrong_beyond_right_share\":0.75}}\n"
                    "{{\"step\":2,\"wall_time\":1,\"eval_accuracy\":{}}}\n",
                    accuracy));
  }

  Study load() const { return load_study(directory_.path()); }
  std::string error() const {
    return error_of([&] { load(); });
  }

  TemporaryDirectory directory_;
};

const std::string kPlain = "reward: {length: {enabled: false}}";
const std::string kFull = "reward: {length: {enabled: true}}";

TEST_F(StudyTest, DifferencesAreOfTheSeedsThatBothHave) {
  for (const int seed : {1, 2, 3}) add_run("plain", seed, 0.5, kPlain);
  add_run("full", 2, 0.75, kFull);
  add_run("full", 3, 1.0, kFull);
  add_run("full", 10, 0.0, kFull);  // has no partner
  const Study study = load();
  const RowResult& full = *find_result(study, "full");
  EXPECT_EQ(full.seeds, (std::vector<std::int64_t>{2, 3, 10}));
  const auto difference = paired_difference(study, full);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->pairs, 2u);
  EXPECT_EQ(difference->above, 2u);
  EXPECT_DOUBLE_EQ(difference->mean.value, 0.375);  // of .25 and .5; s / sqrt(2) is .125
  EXPECT_DOUBLE_EQ(difference->mean.low, 0.375 - 12.706 * 0.125);
  EXPECT_FALSE(paired_difference(study, *find_result(study, "plain")));
  EXPECT_DOUBLE_EQ(final_mean(full, "wrong_beyond_right_share")->value, 0.75);
}

TEST_F(StudyTest, ATableShowsTheRowsOfOthersThatItsOwnAreComparedWith) {
  add_run("plain", 1, 0.5, kPlain);
  add_run("full", 1, 0.75, kFull);
  add_run("wide", 1, 0.625, kFull + "\npolicy_loss: {clip_high: 0.28}");
  const Study study = load();
  const std::vector<Table> tables = tables_of(study);
  ASSERT_EQ(tables.size(), 2u);  // the third has no run
  ASSERT_EQ(tables[1].rows.size(), 2u);
  EXPECT_EQ(tables[1].rows[0]->row.name, "full");
  EXPECT_EQ(tables[1].rows[1]->row.name, "wide");
  EXPECT_NE(study_text(study).find("-0.125"), std::string::npos) << study_text(study);
  EXPECT_NE(study_page(study).find("seed 1: 0.625"), std::string::npos);
}

TEST_F(StudyTest, ARunWithoutItsRowsSettingsIsRefused) {
  add_run("plain", 1, 0.5, kFull);
  EXPECT_NE(error().find("reward.length.enabled is true, and false in the row plain"),
            std::string::npos)
      << error();
}

TEST_F(StudyTest, RunsThatDifferInAKeyOfNeitherRowAreRefused) {
  add_run("plain", 1, 0.5, kPlain + "\nrollout: {prompts_per_step: 16}");
  add_run("full", 1, 0.75, kFull + "\nrollout: {prompts_per_step: 32}");
  EXPECT_NE(error().find("differ in rollout.prompts_per_step (32, 16), which neither row sets"),
            std::string::npos)
      << error();
}

TEST(StudyRows, NameWhatIsMissing) {
  const TemporaryDirectory directory;
  const auto error = [&](const char* text) {
    return error_of([&] { load_rows(directory.write("rows.yaml", text)); });
  };
  EXPECT_NE(error("a:\n  against: b\n").find("row a has no table"), std::string::npos);
  EXPECT_NE(error("a:\n  table: T\n  against: b\n").find("compared with b, which is no row"),
            std::string::npos);
  EXPECT_NE(error("a: 1\n").find("a is no row"), std::string::npos);
}

TEST(StudyRows, AreOverridesByTabs) {
  const TemporaryDirectory directory;
  EXPECT_EQ(
      overrides_text(load_rows(directory.write("rows.yaml", kRows))),
      "plain\treward.length.enabled=false\nfull\nwide\tpolicy_loss.clip_high=2.8e-1\nunborn\n");
}

}  // namespace
}  // namespace lie::study
