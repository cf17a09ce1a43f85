#include "common/metrics_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/fault.h"
#include "common/file.h"

namespace lie {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const MetricsRow& row) {
  Json json = {{"step", row.step}, {"wall_time", row.wall_time}};
  for (const auto& [name, value] : row.values) {
    json[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  return json;
}

MetricsRow from_json(const Json& json) {
  MetricsRow row{.step = json.at("step").get<std::int64_t>(),
                 .wall_time = json.value("wall_time", 0.0),
                 .values = {}};
  for (const auto& [name, value] : json.items()) {
    if (name == "step" || name == "wall_time") continue;
    row.values.emplace_back(name, value.is_null() ? std::nan("") : value.get<double>());
  }
  return row;
}

}  // namespace

std::vector<MetricsRow> read_metrics(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  std::vector<MetricsRow> rows;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    try {
      rows.push_back(from_json(Json::parse(text.substr(begin, end - begin))));
    } catch (const Json::exception& e) {
      fail("{}:{}: expected one flat JSON object of numbers with a \"step\" ({}); remove the line",
           path.string(), rows.size() + 1, e.what());
    }
  }
  return rows;
}

MetricsLog::MetricsLog(std::filesystem::path path, std::int64_t last_step)
    : path_(std::move(path)) {
  std::string text;
  if (std::filesystem::exists(path_)) {
    for (const MetricsRow& row : read_metrics(path_)) {
      if (row.step > last_step) continue;
      text += to_json(row).dump() + "\n";
      steps_.insert(row.step);
    }
  }
  write_file_atomically(path_, text);
  file_.open(path_, std::ios::app);
}

void MetricsLog::append(const MetricsRow& row) {
  write_past_fault_point("metrics", to_json(row).dump() + "\n",
                         [this](std::string_view text) { file_ << text << std::flush; });
  steps_.insert(row.step);
  if (!file_) fail("{}: cannot write metrics; is the disk full?", path_.string());
}

}  // namespace lie
