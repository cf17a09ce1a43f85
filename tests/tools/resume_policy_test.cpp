// A run resumes with other values of keys that change no result, and with no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/config/config.h"
#include "common/io/file.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/run/config/train_config.h"
#include "tools/run/start/resume.h"

namespace lie {
namespace {

using testing::HasSubstr;

/// The directory of a training run, and starts with other values.
class ResumePolicy : public testing::Test {
 protected:
  ResumePolicy() { write_run_config(run_, fields_of(config_)); }

  /// Returns "resumes", "begins", or the error.
  std::string started_with(const std::vector<std::string>& overrides) {
    TrainConfig config = config_;
    const FieldList fields = fields_of(config);
    set_config(fields, overrides);
    std::string answer;
    const std::string error =
        error_of([&] { answer = holds_this_run(run_, fields) ? "resumes" : "begins"; });
    return answer.empty() ? error : answer;
  }

  TemporaryDirectory directory_;
  std::filesystem::path run_ = directory_.path() / "run";
  TrainConfig config_ =
      load_train_config(std::string(source_directory()) + "/tests/tools/small.yaml", {});
};

TEST_F(ResumePolicy, KeysThatChangeNoResultMayChange) {
  EXPECT_EQ(started_with({}), "resumes");
  for (const char* key :
       {"run.steps=99", "run.directory=elsewhere", "run.resume=must", "roles.actors=3",
        "roles.keep_binding=true", "reward.command_time_limit_seconds=60", "model.threads=2",
        "rollout.slots=3", "rollout.prefill_tokens=7", "rollout.cache_mebibytes=9",
        "update.max_micro_batch_tokens=17", "checkpoint.every=5", "checkpoint.keep_last=2",
        "trajectories.keep_last_steps=9"}) {
    EXPECT_EQ(started_with({key}), "resumes") << key;
  }
}

TEST_F(ResumePolicy, OtherKeysAreNamedWithTheRemedy) {
  for (const char* key :
       {"run.seed=4", "model.path=other", "rollout.temperature=0.5", "rollout.max_prompt_tokens=9",
        "rollout.weights=bfloat16", "update.mini_batch_prompts=3", "optimizer.learning_rate=1",
        "verifier.fbox=false", "evaluation.every=1", "reward.coverage.ngram=3",
        "coverage.metric_unit=words", "coverage.memory_mebibytes=2"}) {
    const std::string error = started_with({key});
    const std::string name = std::string(key).substr(0, std::string(key).find('='));
    EXPECT_THAT(error, HasSubstr(name + ": there ")) << key;
    EXPECT_THAT(error, HasSubstr("restore these values, or name another directory")) << key;
  }
}

TEST_F(ResumePolicy, ARunOfAnotherCommandNamesAFewKeysAndCountsTheRest) {
  directory_.write("run/config.yaml", "gone: {a: x, b: 3, c: 3, d: 3, e: 3, f: 3, g: 3}\n");
  const std::string error = started_with({});
  EXPECT_THAT(error, HasSubstr("more, perhaps of another command or build"));
  EXPECT_LT(error.size(), 600U + run_.string().size()) << error;
}

TEST_F(ResumePolicy, ADamagedConfigIsNamedInsteadOfItsDifferences) {
  std::string text = read_file(run_ / "config.yaml");
  text.replace(text.find("temperature"), 11, "temperaturE");
  write_file_atomically(run_ / "config.yaml", text);
  EXPECT_THAT(started_with({}), HasSubstr("config.yaml: does not fit its checksum: it is damaged"));
}

TEST_F(ResumePolicy, DirectoriesThatCannotBeWrittenAreRefusedAndNothingIsLeft) {
  const auto below = directory_.path() / "a" / "b";
  check_writable(below);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "a"));
  check_writable(run_);
  EXPECT_TRUE(std::filesystem::exists(run_ / "config.yaml"));
  const auto file = directory_.write("file", "text");
  EXPECT_THAT(error_of([&] { check_writable(file); }), HasSubstr("cannot create the directory"));
  EXPECT_THAT(error_of([&] { check_writable(file / "run"); }), HasSubstr("Not a directory"));
  EXPECT_THAT(error_of([&] { check_writable("/proc/run"); }), HasSubstr("create the directory"));
}

TEST_F(ResumePolicy, ACommandMayAllowMoreKeysToChange) {
  TrainConfig config = config_;
  config.run.seed = 77;
  const std::vector<std::string> seed = {"run.seed"};
  EXPECT_TRUE(holds_this_run(run_, fields_of(config), seed));
}

TEST_F(ResumePolicy, AnEmptyDirectoryBeginsAndAForeignDirectoryIsRefused) {
  run_ = directory_.path() / "new";
  EXPECT_EQ(started_with({}), "begins");
  std::filesystem::create_directory(run_);
  EXPECT_EQ(started_with({}), "begins");
  directory_.write("new/notes.txt", "mine");
  EXPECT_THAT(started_with({}), HasSubstr("holds files but no run"));
}

}  // namespace
}  // namespace lie
