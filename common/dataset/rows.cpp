#include "common/dataset/rows.h"

#include <string_view>

#include "common/base/error.h"
#include "common/dataset/parquet.h"
#include "common/io/line_input.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Calls `call`. Its Error is appended to `skipped`, or passed on if `skipped` is null.
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
  if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path)) {
    fail(
        "cannot read {}: it is not a regular file, and rows are read more than once; write them "
        "to a file",
        path.string());
  }
  LineInput file(path);
  char begin[4] = {};
  file.stream().read(begin, sizeof begin);
  return std::string_view(begin, sizeof begin) == "PAR1";
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
    LineInput file(path);
    for (std::string line; file.next(line);) {
      if (is_blank(line)) continue;
      guarded(skipped, [&] { visit(parse_json_row(line, file.place()), rows); });
      ++rows;
    }
  }
  if (rows == 0) {
    fail("{}: holds no row; expected one JSON object a line, or Parquet", path.string());
  }
  return rows;
}

}  // namespace lie
