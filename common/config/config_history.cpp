#include "common/config/config_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/text/scan.h"

namespace lie {
namespace {

constexpr std::string_view kPrefix = "config.step-", kSuffix = ".yaml";

/// Whether a change of this key is not reported: it changes no result, or says where a start runs.
bool is_of_start(const std::string& key) {
  static constexpr std::array kSections = {"run", "model"};
  return is_in(kChangeNoResult, key) || is_in(kSections, key);
}

std::vector<std::string> changed_values(const fs::path& before, const fs::path& after) {
  std::map<std::string, std::string> old;
  for (auto& [key, value] : config_values(before)) old.emplace(key, value);
  std::vector<std::string> changes;
  for (const auto& [key, value] : config_values(after)) {
    const auto found = old.find(key);
    if (found == old.end() || found->second == value || is_of_start(key)) continue;
    changes.push_back(fmt::format("{}: {}, now {}", key, found->second, value));
  }
  return changes;
}

}  // namespace

std::vector<FormerConfig> former_configs(const fs::path& run_directory) {
  std::vector<FormerConfig> configs;
  if (!fs::is_directory(run_directory)) return configs;
  for (const std::string& name : list_directory(run_directory)) {
    if (const auto step = number_in_name(name, kPrefix, kSuffix))
      configs.push_back({*step, run_directory / name});
  }
  std::ranges::sort(configs, {}, &FormerConfig::last_step);
  return configs;
}

void keep_former_config(const fs::path& run_directory, std::int64_t last_step) {
  const fs::path kept = run_directory / fmt::format("{}{:06}{}", kPrefix, last_step, kSuffix);
  if (fs::exists(kept)) return;
  write_file_atomically(kept, read_file(run_directory / kConfigFile));
}

std::vector<ConfigChange> config_changes(const fs::path& run_directory) {
  const std::vector<FormerConfig> former = former_configs(run_directory);
  std::vector<ConfigChange> changes;
  for (std::size_t i = 0; i < former.size(); ++i) {
    const bool is_last = i + 1 == former.size();
    const fs::path next = is_last ? run_directory / kConfigFile : former[i + 1].path;
    std::vector<std::string> values = changed_values(former[i].path, next);
    if (values.empty()) values.emplace_back("data.evaluation_file: other rows");
    changes.push_back({former[i].last_step, std::move(values)});
  }
  return changes;
}

std::int64_t changes_before(std::span<const ConfigChange> changes, std::int64_t step) {
  return std::ranges::count_if(
      changes, [step](const ConfigChange& change) { return change.after_step < step; });
}

}  // namespace lie
