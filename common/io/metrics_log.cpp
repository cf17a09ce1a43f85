#include "common/io/metrics_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/io/file.h"
#include "common/io/line_checksum.h"

namespace lie {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const MetricsRow& row) {
  Json json = {{"step", row.step}, {"wall_time", row.wall_time}};
  for (const auto& [name, value] : row.values) {
    json[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  return with_checksum(json.dump()) + "\n";
}

MetricsRow from_json(const Json& json) {
  MetricsRow row{.step = json.at("step").get<std::int64_t>(),
                 .wall_time = json.value("wall_time", 0.0),
                 .values = {}};
  for (const auto& [name, value] : json.items()) {
    if (name == "step" || name == "wall_time" || name == kLineChecksum) continue;
    row.values.emplace_back(name, value.is_null() ? std::nan("") : value.get<double>());
  }
  return row;
}

}  // namespace

MetricsFile read_valid_metrics(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  MetricsFile file{.rows = {}, .damage = {}, .checked = has_checksum(text)};
  const auto take = [&](std::string_view object, std::size_t line) {
    try {
      MetricsRow row = from_json(Json::parse(object));
      if (!file.checked || is_valid(object)) {
        file.rows.push_back(std::move(row));
      } else {
        file.damage.push_back(
            fmt::format("{}:{}: the line does not fit its checksum; it is damaged: remove it",
                        path.string(), line));
      }
    } catch (const Json::exception& e) {
      file.damage.push_back(fmt::format(
          "{}:{}: expected one flat JSON object of numbers with a \"step\" ({}); remove the line",
          path.string(), line, e.what()));
    }
  };
  const std::string_view rest = for_each_whole_line(text, take);
  if (!rest.empty() && is_valid(rest.substr(0, rest.size() - 1))) {
    file.damage.push_back(fmt::format("{}: the end of its last line is damaged", path.string()));
  }
  return file;
}

std::vector<MetricsRow> read_metrics(const std::filesystem::path& path) {
  MetricsFile file = read_valid_metrics(path);
  if (!file.damage.empty()) fail("{}", file.damage.front());
  return std::move(file.rows);
}

std::optional<double> MetricsRow::find(std::string_view name) const {
  const auto at = std::ranges::find(values, name, &std::pair<std::string, double>::first);
  return at == values.end() ? std::nullopt : std::optional(at->second);
}

std::vector<MetricsRow> rows_up_to(const std::filesystem::path& path, std::int64_t last_step) {
  if (!std::filesystem::exists(path)) return {};
  std::vector<MetricsRow> rows = read_metrics(path);
  std::erase_if(rows, [&](const MetricsRow& row) { return row.step > last_step; });
  return rows;
}

MetricsLog::MetricsLog(std::filesystem::path path, std::int64_t last_step)
    : MetricsLog(path, rows_up_to(path, last_step)) {}

MetricsLog::MetricsLog(std::filesystem::path path, std::span<const MetricsRow> rows)
    : path_(std::move(path)) {
  std::string text;
  for (const MetricsRow& row : rows) {
    text += line_of(row);
    steps_.insert(row.step);
  }
  write_file_atomically(path_, text);
  file_.open(path_, std::ios::app);
}

void MetricsLog::append(const MetricsRow& row) {
  write_past_fault_point("metrics", line_of(row),
                         [this](std::string_view text) { file_ << text << std::flush; });
  steps_.insert(row.step);
  if (!file_) fail("{}: cannot write metrics; is the disk full?", path_.string());
}

}  // namespace lie
