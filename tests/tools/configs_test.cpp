// Every config of the repository loads and is valid; models and data need not be there.
// paper_values_test.cpp checks the values of the paper's configs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "common/config/config.h"
#include "common/io/file.h"
#include "model/config/model_config.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/eval/eval_config.h"
#include "tools/run/config/train_config.h"
#include "tools/sft/sft_config.h"

namespace lie {
namespace {

const fs::path kConfigs = fs::path(source_directory()) / "configs";

std::vector<fs::path> configs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kConfigs / folder)) {
    if (entry.path().extension() == ".yaml") found.push_back(entry.path());
  }
  return found;
}

TrainConfig train_config(const std::string& name) { return load_train_config(kConfigs / name, {}); }

TEST(Configs, TrainingConfigsLoadAndHaveDistinctDirectories) {
  std::map<std::string, fs::path> directories;
  for (const char* folder : {".", "one-card", "one-node", "paper", "paper/ablations"}) {
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

TEST(Configs, EvaluationAndFineTuningConfigsLoad) {
  for (const fs::path& path : configs_in("paper/eval")) evaluation::load_eval_config(path, {});
  for (const char* folder : {"count_pairs", "paper/sft"}) {
    for (const fs::path& path : configs_in(folder)) load_sft_config(path, {});
  }
}

TEST(Configs, Gsm8kTrialsLoad) {
  for (const char* name : {"gspo_lie", "lie_right_groups", "lie_overlong", "lie_dynamic"}) {
    const TrainConfig config = train_config(fmt::format("gsm8k/{}.yaml", name));
    EXPECT_TRUE(config.reward.of<LengthRewardOptions>().enabled) << name;
    EXPECT_EQ(config.policy_loss.algorithm, "gspo") << name;
  }
  EXPECT_FALSE(train_config("gsm8k/gspo.yaml").reward.of<LengthRewardOptions>().enabled);
  evaluation::load_eval_config(kConfigs / "gsm8k/eval.yaml", {});
  for (const char* name : {"sft", "sft_longer"}) {
    load_sft_config(kConfigs / fmt::format("gsm8k/{}.yaml", name), {});
  }
}

TEST(Configs, EveryStudyRowOverridesExistingKeysOfTheDemo) {
  const std::set<std::string> described = {"table", "paper", "against"};
  for (const char* file : {"study/rows.yaml", "study/staleness.yaml"}) {
    std::map<std::string, std::vector<std::string>> overrides;  // by row
    for (const auto& [key, value] : config_values(kConfigs / file)) {
      const std::size_t dot = key.find('.');
      const std::string setting = key.substr(dot + 1);
      auto& of_row = overrides[key.substr(0, dot)];
      if (!described.contains(setting)) of_row.push_back(setting + "=" + value);
    }
    EXPECT_GT(overrides.size(), 5u) << file;
    for (const auto& [row, settings] : overrides) {
      EXPECT_NO_THROW(load_train_config(kConfigs / "demo.yaml", settings)) << row;
    }
  }
}

TEST(Configs, ReadmeConfigLoadsAndFitsItsModel) {
  const std::string readme = read_file(fs::path(source_directory()) / "README.md");
  const std::string fence = "```yaml\n";
  const auto begin = readme.find(fence) + fence.size();
  const TemporaryDirectory directory;
  const fs::path path =
      directory.write("my.yaml", readme.substr(begin, readme.find("```", begin) - begin));
  const TrainConfig config = load_train_config(path, {});
  check_fits_model(config.rollout,
                   load_model_config(fs::path(source_directory()) / config.model.path));
  EXPECT_TRUE(fs::exists(fs::path(source_directory()) / config.data.train_file.front()));
}

/// Returns the words in backquotes in a row's last column that have the form of keys.
std::vector<std::string> keys_of_row(const std::string& row) {
  static const std::regex key("`([a-z_]+(\\.[a-z0-9_]+)+)`");
  std::vector<std::string> keys;
  std::string cell = row.substr(row.rfind('|', row.size() - 2));
  for (std::smatch found; std::regex_search(cell, found, key); cell = found.suffix()) {
    keys.push_back(found[1]);
  }
  return keys;
}

TEST(Configs, MigrationTableNamesExistingKeys) {
  std::istringstream page(
      read_file(fs::path(source_directory()) / "docs/reference/keys-of-other-frameworks.md"));
  TrainConfig config;
  std::set<std::string> known;
  const FieldList fields = fields_of(config);
  for (const Field& field : fields.fields()) known.insert(field.key);
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.starts_with("| verl")) continue;
    const auto keys = keys_of_row(line);
    EXPECT_EQ(keys.empty(), line.find("| none: ") != std::string::npos) << line;
    for (const std::string& key : keys) EXPECT_TRUE(known.contains(key)) << key;
    ++rows;
  }
  EXPECT_GE(rows, 40);
}

TEST(Configs, EvaluationKeysAreUncheckedWithoutEvaluations) {
  const fs::path small = fs::path(source_directory()) / "tests/tools/small.yaml";
  const auto with = [&](const char* every) {
    return error_of([&] {
      load_train_config(small, std::vector<std::string>{std::string("evaluation.every=") + every,
                                                        "evaluation.budgets=[9,9]"});
    });
  };
  EXPECT_NE(with("1").find("evaluation.budgets"), std::string::npos) << with("1");
  EXPECT_EQ(with("0"), "no error");
}

TEST(Configs, RejectsADuplicateMetricNgram) {
  const fs::path small = fs::path(source_directory()) / "tests/tools/small.yaml";
  const std::string error = error_of([&] {
    load_train_config(small, std::vector<std::string>{"coverage.metric_ngrams=[2,6,2]"});
  });
  EXPECT_EQ(error, "coverage.metric_ngrams: 2 is listed twice; list each n once");
}

}  // namespace
}  // namespace lie
