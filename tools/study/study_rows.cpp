#include "tools/study/study_rows.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/config/config.h"

namespace lie::study {
namespace {

void set(Row& row, const std::string& key, const std::string& value) {
  if (key == "table") {
    row.table = value;
  } else if (key == "paper") {
    row.paper = value;
  } else if (key == "against") {
    row.against = value;
  } else {
    row.settings.emplace_back(key, value);
  }
}

void check(const std::vector<Row>& rows, const std::filesystem::path& path) {
  for (const Row& row : rows) {
    if (row.table.empty()) {
      fail("{}: row {} has no table; add \"table: TITLE\"", path.string(), row.name);
    }
    if (!row.against.empty() && std::ranges::count(rows, row.against, &Row::name) == 0) {
      fail("{}: row {} is compared with {}, which is no row", path.string(), row.name, row.against);
    }
  }
}

}  // namespace

std::vector<Row> load_rows(const std::filesystem::path& path) {
  std::vector<Row> rows;
  for (const auto& [key, value] : config_values(path)) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) {
      fail("{}: {} is no row; write its keys under it, indented", path.string(), key);
    }
    const std::string name = key.substr(0, dot);
    if (rows.empty() || rows.back().name != name) rows.emplace_back().name = name;
    set(rows.back(), key.substr(dot + 1), value);
  }
  check(rows, path);
  return rows;
}

std::string overrides_text(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += row.name;
    for (const auto& [key, value] : row.settings) text += fmt::format("\t{}={}", key, value);
    text += "\n";
  }
  return text;
}

}  // namespace lie::study
