// Every config of the repository loads and is valid; models and data need not be there.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "common/file.h"
#include "model/model_config.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/eval/eval_config.h"
#include "tools/run/train_config.h"
#include "tools/sft/sft_command.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(source_directory()) / "configs";

std::vector<fs::path> configs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kConfigs / folder)) {
    if (entry.path().extension() == ".yaml") found.push_back(entry.path());
  }
  return found;
}

TrainConfig train_config(const std::string& name) { return load_train_config(kConfigs / name, {}); }

TEST(Configs, TrainingOnesLoadAndHaveADirectoryEach) {
  std::map<std::string, fs::path> directories;
  for (const char* folder : {".", "paper", "paper/ablations"}) {
    const auto configs = configs_in(folder);
    EXPECT_FALSE(configs.empty()) << folder;
    for (const fs::path& path : configs) {
      const TrainConfig config = load_train_config(path, {});
      const auto [other, fresh] = directories.emplace(config.run.directory, path);
      EXPECT_TRUE(fresh) << path << " and " << other->second << ": " << config.run.directory;
    }
  }
  EXPECT_GE(directories.size(), 36u);
}

TEST(Configs, EvaluationAndFineTuningOnesLoad) {
  for (const fs::path& path : configs_in("paper/eval")) evaluation::load_eval_config(path, {});
  for (const fs::path& path : configs_in("count_pairs")) check_sft_config(path);
}

TEST(Configs, TheGsm8kTrialsLoad) {
  for (const char* name : {"gsm8k/gspo.yaml", "gsm8k/gspo_lie.yaml"}) {
    EXPECT_EQ(train_config(name).policy_loss.algorithm, Algorithm::kGspo);
  }
  EXPECT_FALSE(train_config("gsm8k/gspo.yaml").reward.of<LengthRewardOptions>().enabled);
  evaluation::load_eval_config(kConfigs / "gsm8k/eval.yaml", {});
  check_sft_config(kConfigs / "gsm8k/sft.yaml");
}

TEST(Configs, TheMainExperimentHasThePapersValues) {
  const TrainConfig config = train_config("paper/qwen3-4b-base-gspo-lie.yaml");
  EXPECT_EQ(config.reward.of<LengthRewardOptions>().delta_tokens, 500);
  EXPECT_DOUBLE_EQ(config.reward.of<LengthRewardOptions>().eta, 0.3 / 9000);
  EXPECT_EQ(config.reward.of<RedundancyRewardOptions>().beta, 0.6);
  EXPECT_EQ(config.reward.of<RedundancyRewardOptions>().threshold, 10);
  EXPECT_EQ(config.reward.coverage.ngram, 10);
  EXPECT_EQ(config.policy_loss.algorithm, Algorithm::kGspo);
  EXPECT_EQ(config.policy_loss.clip_low, 3e-4);
  EXPECT_EQ(config.policy_loss.clip_high, 4e-4);
  EXPECT_EQ(config.optimizer.learning_rate, 1e-6);
  EXPECT_EQ(config.tickets.prompts_per_step, 128);
  EXPECT_EQ(config.tickets.samples_per_prompt, 8);
  EXPECT_EQ(config.update.mini_batch_prompts, 32);
  EXPECT_EQ(config.rollout.sampling.max_response_tokens, 8192);
  EXPECT_EQ(config.rollout.evaluation.temperature, 0.6);
}

TEST(Configs, TheOneOfTheReadmeLoadsAndFitsItsModel) {
  const std::string readme = read_file(fs::path(source_directory()) / "README.md");
  const std::string fence = "```yaml\n";
  const auto begin = readme.find(fence) + fence.size();
  const TemporaryDirectory directory;
  const fs::path path =
      directory.write("my.yaml", readme.substr(begin, readme.find("```", begin) - begin));
  const TrainConfig config = load_train_config(path, {});
  check_fits_model(config.rollout,
                   load_model_config(fs::path(source_directory()) / config.model.path));
  EXPECT_TRUE(fs::exists(fs::path(source_directory()) / config.data.train_file));
}

TEST(Configs, PartsChangeWhatTheyAreFor) {
  const TrainConfig plain = train_config("paper/qwen3-4b-base-gspo.yaml");
  EXPECT_FALSE(plain.reward.of<LengthRewardOptions>().enabled);
  EXPECT_FALSE(plain.reward.of<RedundancyRewardOptions>().enabled);
  EXPECT_EQ(train_config("paper/qwen3-8b-base-grpo-clip-higher-lie.yaml").policy_loss.clip_high,
            0.28);
  EXPECT_EQ(
      train_config("paper/qwen3-4b-base-gspo-lie-stage2.yaml").rollout.sampling.max_response_tokens,
      12288);
  EXPECT_EQ(train_config("paper/qwen3-4b-no-thinking-gspo-lie.yaml").data.prompt_template,
            "qwen3-no-thinking");
  EXPECT_EQ(train_config("paper/octothinker-3b-gspo-lie.yaml").data.prompt_template, "octothinker");
  EXPECT_EQ(
      train_config("paper/ablations/delta-8k.yaml").reward.of<LengthRewardOptions>().delta_tokens,
      8192);
  EXPECT_TRUE(train_config("paper/ablations/coverage-bonus.yaml")
                  .reward.of<CoverageBonusOptions>()
                  .enabled);
  EXPECT_EQ(
      train_config("paper/ablations/theta-15.yaml").reward.of<RedundancyRewardOptions>().threshold,
      15);
  EXPECT_EQ(train_config("paper/ablations/ngram-6.yaml").reward.coverage.ngram, 6);
}

TEST(Configs, AnNOfTheMetricsThatStandsTwiceIsRefused) {
  const fs::path small = fs::path(source_directory()) / "tests/tools/small.yaml";
  const std::string error = error_of([&] {
    load_train_config(small, std::vector<std::string>{"coverage.metric_ngrams=[2,6,2]"});
  });
  EXPECT_EQ(error, "coverage.metric_ngrams: 2 stands there twice; name each n once");
}

}  // namespace
}  // namespace lie
