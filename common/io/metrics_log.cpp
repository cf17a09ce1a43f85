#include "common/io/metrics_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/line_input.h"
#include "common/io/metric_names.h"

namespace lie {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string line_of(const MetricsRow& row) {
  OrderedJson json = {{"step", row.step}, {"wall_time", row.wall_time}};
  for (const auto& [name, value] : row.values) {
    json[name] = std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
  }
  return with_checksum(json.dump()) + "\n";
}

MetricsRow from_json(const OrderedJson& json) {
  MetricsRow row{.step = json.at("step").get<std::int64_t>(),
                 .wall_time = json.value("wall_time", 0.0),
                 .values = {}};
  for (const auto& [name, value] : json.items()) {
    if (name == "step" || name == "wall_time" || name == kLineChecksum) continue;
    row.values.emplace_back(present_metric_name(name),
                            value.is_null() ? std::nan("") : value.get<double>());
  }
  return row;
}

}  // namespace

MetricsFile read_valid_metrics(const fs::path& path) {
  const std::string text = fs::exists(path) ? read_file(path) : std::string();
  MetricsFile file{.rows = {}, .damage = {}, .checked = has_checksum(text)};
  const auto take = [&](std::string_view object, std::size_t line) {
    try {
      MetricsRow row = from_json(OrderedJson::parse(object));
      if (!file.checked || is_valid(object)) {
        file.rows.push_back(std::move(row));
      } else {
        file.damage.push_back(
            fmt::format("{}:{}: the line does not fit its checksum", path.string(), line));
      }
    } catch (const OrderedJson::exception& e) {
      file.damage.push_back(
          fmt::format("{}:{}: expected one flat JSON object of numbers with a \"step\" ({})",
                      path.string(), line, e.what()));
    }
  };
  const std::string_view rest = for_each_whole_line(text, take);
  if (!rest.empty() && is_valid(rest.substr(0, rest.size() - 1))) {
    file.damage.push_back(fmt::format("{}: the end of its last line is damaged", path.string()));
  }
  std::ranges::stable_sort(file.rows, {}, &MetricsRow::step);
  return file;
}

std::set<std::int64_t> steps_with_metrics(const fs::path& path) {
  std::set<std::int64_t> steps;
  for (const MetricsRow& row : read_valid_metrics(path).rows) steps.insert(row.step);
  return steps;
}

MetricsFile metrics_to_continue(const fs::path& path) {
  MetricsFile file = read_valid_metrics(path);
  if (file.damage.empty()) return file;
  if (fs::is_symlink(path)) {
    fail(
        "{}: is a link to {}, which would be replaced although it holds more than metrics ({}); "
        "remove the link",
        path.string(), fs::weakly_canonical(path).string(), file.damage.front());
  }
  const fs::path kept = free_name(path, ".damaged");
  write_file_atomically(kept, read_file(path));
  for (std::string& damage : file.damage) {
    damage += fmt::format("; the whole file is kept as {}", kept.string());
  }
  return file;
}

void drop_after(std::int64_t last_step, std::vector<MetricsRow>& rows) {
  std::erase_if(rows, [&](const MetricsRow& row) { return row.step > last_step; });
}

std::vector<MetricsRow> read_metrics(const fs::path& path) {
  MetricsFile file = read_valid_metrics(path);
  if (!file.damage.empty()) {
    fail("{}; resume the run, which repairs the file", file.damage.front());
  }
  return std::move(file.rows);
}

std::optional<double> MetricsRow::find(std::string_view name) const {
  const auto at = std::ranges::find(values, name, &std::pair<std::string, double>::first);
  return at == values.end() ? std::nullopt : std::optional(at->second);
}

MetricsLog::MetricsLog(const fs::path& path, std::span<const MetricsRow> rows) {
  std::string text;
  for (const MetricsRow& row : rows) {
    text += line_of(row);
    steps_.insert(row.step);
  }
  write_file_atomically(path, text);
  file_.emplace(path, OutputFile::Begin::kAtEnd);
}

void MetricsLog::append(const MetricsRow& row) {
  write_past_fault_point("metrics", line_of(row),
                         [this](std::string_view text) { file_->write(text); });
  steps_.insert(row.step);
}

}  // namespace lie
