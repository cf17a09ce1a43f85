#include "tests/fuzz/file_bodies.h"

#include <string>
#include <vector>

#include "common/dataset/field_names.h"
#include "common/dataset/rows.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {
namespace {

void read_rows(const char* name, std::string_view input) {
  const std::filesystem::path path = file_with(name, input);
  read_or_refused([&] {
    std::vector<std::string> skipped;
    for_each_row(
        path, [](const JsonRow& row, std::int64_t) { guess_fields(row); }, &skipped);
  });
}

}  // namespace

void jsonl_body(std::string_view input) { read_rows("rows.jsonl", input); }

void parquet_body(std::string_view input) { read_rows("rows.parquet", input); }

}  // namespace lie::fuzz
