#include "common/dataset/rows.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "common/dataset/parquet.h"
#include "common/error.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

std::ifstream open_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path)) {
    fail("cannot read {}: {}; check the path", path.string(),
         fs::is_directory(path) ? "it is a directory" : std::strerror(errno));
  }
  return file;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

/// Visits one row; its Error is rethrown or recorded.
void guarded(std::vector<std::string>* skipped, const std::function<void()>& call) {
  if (skipped == nullptr) return call();
  try {
    call();
  } catch (const Error& error) {
    skipped->emplace_back(error.what());
  }
}

}  // namespace

bool is_parquet(const fs::path& path) {
  std::ifstream file = open_text(path);
  char begin[4] = {};
  file.read(begin, sizeof begin);
  return file && std::string_view(begin, sizeof begin) == "PAR1";
}

std::int64_t for_each_row(const fs::path& path, const VisitRow& visit,
                          std::vector<std::string>* skipped) {
  std::int64_t rows = 0;
  if (is_parquet(path)) {
    for_each_parquet_row(path, [&](const JsonRow& row) {
      guarded(skipped, [&] { visit(row, rows); });
      ++rows;
    });
  } else {
    std::ifstream file = open_text(path);
    std::string line;
    for (std::int64_t number = 1; std::getline(file, line); ++number) {
      if (is_blank(line)) continue;
      const std::string place = fmt::format("{}:{}", path.string(), number);
      guarded(skipped, [&] { visit(parse_json_row(line, place), rows); });
      ++rows;
    }
  }
  if (rows == 0) {
    fail("{}: holds no row; expected one JSON object a line, or Parquet", path.string());
  }
  return rows;
}

}  // namespace lie
