#include "common/dataset/rows.h"

#include <array>
#include <string_view>

#include "common/base/error.h"
#include "common/dataset/parquet.h"
#include "common/io/line_input.h"
#include "common/text/scan.h"

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

/// An unsupported format, recognized by a file's first bytes or by the end of its name.
struct OtherFormat {
  std::string_view begin, suffix, name, remedy;
};

constexpr const char* kByPandas = "convert it: pandas.read_csv(FILE).to_parquet('rows.parquet')";

constexpr std::array<OtherFormat, 10> kOtherFormats = {{
    {"\xFF\xFE", "", "UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > rows.jsonl"},
    {"\xFE\xFF", "", "UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > rows.jsonl"},
    {"\x1F\x8B", "", "compressed by gzip", "unpack it with gunzip"},
    {"\x28\xB5\x2F\xFD", "", "compressed by zstd", "unpack it with unzstd"},
    {"BZh", "", "compressed by bzip2", "unpack it with bunzip2"},
    {"PK\x03\x04", "", "a ZIP archive or a spreadsheet", "unpack it, or export it as JSONL"},
    {"ARROW1", "", "an Arrow file", "write Parquet: datasets.Dataset.to_parquet"},
    {"[", "", "a JSON array", "write one object a line: jq -c '.[]' FILE > rows.jsonl"},
    {"", ".csv", "CSV", kByPandas},
    {"", ".tsv", "TSV", kByPandas},
}};

/// Throws Error with the remedy if the file's first line belongs to an unsupported format.
void refuse_other_format(const fs::path& path, std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('{')) return;
  const std::string name = lowered(path.filename().string());
  for (const OtherFormat& format : kOtherFormats) {
    const bool is_it =
        format.begin.empty() ? name.ends_with(format.suffix) : line.starts_with(format.begin);
    if (!is_it) continue;
    fail("{}: is {}, but rows are read from JSONL or Parquet; {}", path.string(), format.name,
         format.remedy);
  }
}

std::int64_t for_each_line(const fs::path& path, const VisitRow& visit,
                           std::vector<std::string>* skipped) {
  LineInput file(path);
  std::int64_t rows = 0;
  for (std::string line; file.next(line);) {
    if (trimmed(line).empty()) continue;
    if (rows == 0) refuse_other_format(path, line);
    guarded(skipped, [&] { visit(parse_json_row(line, file.place()), rows); });
    ++rows;
  }
  return rows;
}

}  // namespace

bool is_parquet(const fs::path& path) {
  const bool is_standard_input = path == "-";
  if (is_standard_input ||
      (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path))) {
    fail(
        "cannot read {}: it is not a regular file, and rows are read more than once; write them "
        "to a file",
        is_standard_input ? "standard input" : path.string());
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
    rows = for_each_line(path, visit, skipped);
  }
  if (rows == 0) {
    fail("{}: holds no row; expected one JSON object per line, or Parquet", path.string());
  }
  return rows;
}

}  // namespace lie
