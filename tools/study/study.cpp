#include "tools/study/study.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "common/base/error.h"
#include "common/io/file.h"
#include "tools/analyze/curves.h"

namespace lie::study {
namespace {

using analyze::Run;

constexpr const char* kAccuracy = "eval_accuracy";

/// Differ from run to run and change no row's result.
bool is_of_the_run(const std::string& key) {
  return key == "run.directory" || key == "run.seed" || key == "run.resume" ||
         key == "model.threads";
}

/// The same text or the same number: a run's config has 0.25 for a row's 2.5e-1.
bool same_value(const std::string& a, const std::string& b) {
  double x = 0, y = 0;
  const auto first = std::from_chars(a.data(), a.data() + a.size(), x);
  const auto second = std::from_chars(b.data(), b.data() + b.size(), y);
  const bool numbers = first.ec == std::errc() && first.ptr == a.data() + a.size() &&
                       second.ec == std::errc() && second.ptr == b.data() + b.size();
  return numbers ? x == y : a == b;
}

void require_settings_of_row(const Run& run, const Row& row) {
  for (const auto& [key, value] : row.settings) {
    const std::string there = analyze::setting_of(run, key);
    if (same_value(there, value)) continue;
    fail("{}: {} is {}, and {} in the row {}; remove the run or mend the row",
         run.directory.string(), key, there, value, row.name);
  }
}

bool sets(const Row& row, const std::string& key) {
  return std::ranges::any_of(row.settings, [&](const auto& pair) { return pair.first == key; });
}

/// A key that only one of them knows is another build's.
void require_same_elsewhere(const Run& run, const Row& row, const Run& other, const Row& others) {
  for (const auto& [key, value] : run.settings) {
    if (is_of_the_run(key) || sets(row, key) || sets(others, key)) continue;
    const std::string there = analyze::setting_of(other, key);
    if (there.empty() || same_value(there, value)) continue;
    fail("{} and {} differ in {} ({}, {}), which neither row sets; run one of them again",
         run.directory.string(), other.directory.string(), key, value, there);
  }
}

void require_comparable(const Study& study) {
  const RowResult* first = nullptr;
  for (const RowResult& result : study.rows) {
    for (const Run& run : result.subject.runs) {
      if (!first) first = &result;
      require_settings_of_row(run, result.row);
      require_same_elsewhere(run, result.row, first->subject.runs.front(), first->row);
    }
  }
}

/// Of the runs that have begun.
std::vector<std::int64_t> seeds_in(const fs::path& directory) {
  constexpr std::string_view kBegin = "seed-";
  std::set<std::int64_t> seeds;
  if (!fs::is_directory(directory)) return {};
  for (const std::string& name : list_directory(directory)) {
    std::int64_t seed = 0;
    if (!name.starts_with(kBegin) || !fs::exists(directory / name / "config.yaml")) continue;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + kBegin.size(), end, seed).ptr == end) seeds.insert(seed);
  }
  return {seeds.begin(), seeds.end()};
}

RowResult load_result(const fs::path& directory, const Row& row, std::vector<std::string>& notes) {
  RowResult result{row, {}, {row.name, {}}};
  for (const std::int64_t seed : seeds_in(directory)) {
    Run run = analyze::load_curves_of(directory / fmt::format("seed-{}", seed));
    const bool evaluated = analyze::curve_of(run, kAccuracy).contains(run.last_step);
    if (evaluated && analyze::setting_of(run, "run.steps") == std::to_string(run.last_step)) {
      result.seeds.push_back(seed);
      result.subject.runs.push_back(std::move(run));
    } else {
      notes.push_back(fmt::format("{}: left out: {}", run.directory.string(), run.state));
    }
  }
  return result;
}

std::optional<double> accuracy_of_seed(const RowResult& result, std::int64_t seed) {
  const auto found = std::ranges::find(result.seeds, seed);
  if (found == result.seeds.end()) return std::nullopt;
  return final_accuracies(result)[static_cast<std::size_t>(found - result.seeds.begin())];
}

void add_row(Table& table, const RowResult* result) {
  if (!result || result->seeds.empty()) return;
  if (std::ranges::find(table.rows, result) == table.rows.end()) table.rows.push_back(result);
}

Table table_of(const Study& study, const std::string& title) {
  Table table{title, {}};
  for (const RowResult& result : study.rows) {
    if (result.row.table != title || result.seeds.empty()) continue;
    add_row(table, find_result(study, result.row.against));
    add_row(table, &result);
  }
  return table;
}

}  // namespace

Study load_study(const fs::path& directory) {
  if (!fs::exists(directory / "rows.yaml")) {
    fail("{} holds no study (rows.yaml is missing): give the directory of scripts/study.sh",
         directory.string());
  }
  Study study;
  for (const Row& row : load_rows(directory / "rows.yaml")) {
    study.rows.push_back(load_result(directory / row.name, row, study.notes));
  }
  require_comparable(study);
  return study;
}

std::vector<double> final_accuracies(const RowResult& result) {
  std::vector<double> values;
  for (const Run& run : result.subject.runs) {
    values.push_back(analyze::curve_of(run, kAccuracy).rbegin()->second);
  }
  return values;
}

std::optional<Estimate> final_mean(const RowResult& result, const std::string& metric) {
  const analyze::StartAndEnd ends = analyze::start_and_end(result.subject, metric);
  return ends.known ? std::optional(ends.end) : std::nullopt;
}

Estimate final_accuracy(const RowResult& result) { return *final_mean(result, kAccuracy); }

std::optional<Difference> paired_difference(const Study& study, const RowResult& result) {
  const RowResult* against = find_result(study, result.row.against);
  if (!against) return std::nullopt;
  std::vector<double> differences;
  Difference difference;
  for (const std::int64_t seed : result.seeds) {
    const auto theirs = accuracy_of_seed(*against, seed);
    if (!theirs) continue;
    differences.push_back(*accuracy_of_seed(result, seed) - *theirs);
    difference.above += differences.back() > 0 ? 1 : 0;
  }
  if (differences.empty()) return std::nullopt;
  difference.mean = mean_interval(differences);
  difference.pairs = differences.size();
  return difference;
}

const RowResult* find_result(const Study& study, const std::string& name) {
  for (const RowResult& result : study.rows) {
    if (result.row.name == name) return &result;
  }
  return nullptr;
}

std::vector<Table> tables_of(const Study& study) {
  std::vector<Table> tables;
  for (const RowResult& result : study.rows) {
    if (result.seeds.empty()) continue;
    if (std::ranges::find(tables, result.row.table, &Table::title) != tables.end()) continue;
    tables.push_back(table_of(study, result.row.table));
  }
  return tables;
}

}  // namespace lie::study
