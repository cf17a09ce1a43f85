#include "tools/analyze/report/evaluation_rows.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {
namespace {

namespace fs = std::filesystem;

constexpr auto kCurves = {"pass", "majority", "budgets"};

/// Throws if a row of table.json lacks what the page shows.
void check_row(const Json& row) {
  row.at("data_source").get<std::string>();
  row.at("problems").get<std::int64_t>();
  row.at("samples").get<std::int64_t>();
  row.at("average").get<Estimate>();
  for (const char* curve : kCurves) {
    for (const auto& [at, estimate] : row.at(curve).items()) estimate.get<Estimate>();
  }
}

/// Returns the table.json of each run that has one.
std::vector<Json> tables_of(const Subject& subject) {
  std::vector<Json> tables;
  for (const Run& run : subject.runs) {
    const fs::path path = run.directory / "table.json";
    if (!fs::exists(path)) continue;
    tables.push_back(read_json(path));
    try {
      for (const Json& row : tables.back().at("rows")) check_row(row);
      tables.back().value("confidence", 0.95);
    } catch (const std::exception& error) {
      fail("{}: not a table of lie_cluster eval ({}); run eval again", path.string(), error.what());
    }
  }
  return tables;
}

Json mean_of_estimates(std::span<const Json> estimates) {
  std::vector<double> values;
  for (const Json& estimate : estimates) values.push_back(estimate.get<Estimate>().value);
  const Estimate mean = mean_interval(values);
  return Estimate{mean.value, std::max(mean.low, 0.0), std::min(mean.high, 1.0)};
}

/// Returns the mean of curves at the points that all of them have.
Json mean_of_curves(std::span<const Json> curves) {
  Json mean = Json::object();
  for (const auto& [at, first] : curves.front().items()) {
    std::vector<Json> estimates;
    for (const Json& curve : curves) {
      if (curve.contains(at)) estimates.push_back(curve.at(at));
    }
    if (estimates.size() == curves.size()) mean[at] = mean_of_estimates(estimates);
  }
  return mean;
}

Json mean_of_rows(std::span<const Json> rows) {
  Json mean = rows.front();
  const auto values = [&](const char* name) {
    std::vector<Json> all;
    for (const Json& row : rows) all.push_back(row.at(name));
    return all;
  };
  mean["average"] = mean_of_estimates(values("average"));
  for (const char* curve : kCurves) mean[curve] = mean_of_curves(values(curve));
  return mean;
}

/// Returns the means of the rows of the sources that all tables have.
Json mean_of_tables(std::span<const Json> tables) {
  Json means = Json::array();
  for (const Json& first : tables.front().at("rows")) {
    std::vector<Json> rows;
    for (const Json& table : tables) {
      const Json& all = table.at("rows");
      const auto own = std::ranges::find_if(
          all, [&](const Json& row) { return row.at("data_source") == first.at("data_source"); });
      if (own != all.end()) rows.push_back(*own);
    }
    if (rows.size() == tables.size()) means.push_back(mean_of_rows(rows));
  }
  return means;
}

}  // namespace

Json evaluation_of(const Subject& subject) {
  const std::vector<Json> tables = tables_of(subject);
  if (tables.empty()) {
    return {{"evaluation", Json::array()}, {"evaluation_confidence", nullptr}};
  }
  if (tables.size() > 1) {
    return {{"evaluation", mean_of_tables(tables)}, {"evaluation_confidence", 0.95}};
  }
  return {{"evaluation", tables.front().at("rows")},
          {"evaluation_confidence", tables.front().value("confidence", 0.95)}};
}

}  // namespace lie::analyze
