// Reads and writes Parquet files through Arrow. Only parquet.cpp includes Arrow. Builds without
// Arrow use parquet_stub.cpp instead.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/io/json_lines.h"

namespace lie {

/// Calls `visit` with each row in order. A row's place is "train.parquet:row 12", counted from 1.
/// Reads one batch of rows at a time. Lists and structs become JSON lists and objects. Texts,
/// numbers and booleans keep their type. Times, dates and decimals become texts, and maps objects.
/// A value of another type, such as a duration, and a text that is not UTF-8 become an object with
/// the key kUnreadType. Throws Error if the file cannot be read, or in a build without Arrow.
void for_each_parquet_row(const std::filesystem::path& path,
                          const std::function<void(const JsonRow&)>& visit);

struct NumberColumn {
  std::string name;
  std::vector<double> values;  // one per row
};

/// Writes the table of `input` to `output` with these columns. Existing columns of their names are
/// replaced. The file appears complete or not at all. Throws Error if a file cannot be read or
/// written.
void add_parquet_columns(const std::filesystem::path& input, const std::filesystem::path& output,
                         std::span<const NumberColumn> columns);

}  // namespace lie
