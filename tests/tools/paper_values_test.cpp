// The configs of the paper's experiments have the values of paper_values.json, and their README
// shows that table.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "tests/directories.h"
#include "tools/eval/eval_config.h"
#include "tools/run/config/train_config.h"

namespace lie {
namespace {

const fs::path kRoot = source_directory();
const fs::path kFolder = kRoot / "configs/paper";

Json rows() { return read_json(kRoot / "tests/tools/paper_values.json").at("rows"); }

bool matches(const std::string& config, const Json& row) {
  return std::ranges::any_of(row.at("configs"), [&](const Json& pattern) {
    return ::fnmatch(pattern.get<std::string>().c_str(), config.c_str(), FNM_PATHNAME) == 0;
  });
}

/// The experiments, as paths below configs/paper.
std::vector<std::string> experiments() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    const std::string name = fs::relative(entry.path(), kFolder).string();
    if (name.ends_with(".yaml") && !name.starts_with("parts/")) found.push_back(name);
  }
  std::ranges::sort(found);
  return found;
}

using Values = std::map<std::string, std::string>;

Values values_of(const FieldList& fields) {
  Values values;
  for (const Field& field : fields.fields()) {
    values[field.key] = fmt::format("{}", fmt::join(field.get(), ", "));
  }
  return values;
}

/// Every key of an experiment with its value, resolved.
Values values_of(const std::string& experiment) {
  const fs::path path = kFolder / experiment;
  if (experiment.starts_with("sft/")) {
    Values values;
    for (const auto& [key, value] : config_values(path)) values[key] = value;
    return values;
  }
  if (experiment.starts_with("eval/")) {
    auto config = evaluation::load_eval_config(path, {});
    return values_of(fields_of(config));
  }
  TrainConfig config = load_train_config(path, {});
  return values_of(fields_of(config));
}

std::string line_of(const Json& row) {
  std::vector<std::string> here;
  for (const auto& [key, value] : row.at("here").items()) {
    here.push_back(fmt::format("`{}` {}", key, value.get<std::string>()));
  }
  return fmt::format("| {} | {} | {} | {} |\n", row.at("item").get<std::string>(),
                     row.at("paper").get<std::string>(), row.at("release").get<std::string>(),
                     fmt::join(here, ", "));
}

TEST(PaperValues, StandInTheConfigs) {
  std::map<std::string, Values> experiment_values;
  for (const std::string& name : experiments()) experiment_values[name] = values_of(name);
  for (const Json& row : rows()) {
    int matched = 0;
    for (const auto& [name, values] : experiment_values) {
      if (!matches(name, row)) continue;
      ++matched;
      for (const auto& [key, value] : row.at("here").items()) {
        ASSERT_TRUE(values.contains(key)) << name << " has no key " << key;
        EXPECT_EQ(values.at(key), value.get<std::string>()) << name << ": " << key;
      }
    }
    EXPECT_GT(matched, 0) << row.at("item") << ": no config matches";
  }
}

TEST(PaperValues, CoverEveryExperiment) {
  const Json table = rows();
  for (const std::string& name : experiments()) {
    EXPECT_TRUE(std::ranges::any_of(table, [&](const Json& row) { return matches(name, row); }))
        << name;
  }
}

TEST(PaperValues, AreTheTableOfTheReadme) {
  std::string expected;
  for (const Json& row : rows()) expected += line_of(row);
  EXPECT_NE(read_file(kFolder / "README.md").find(expected), std::string::npos)
      << "configs/paper/README.md should contain\n"
      << expected;
}

}  // namespace
}  // namespace lie
