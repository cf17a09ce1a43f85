// Parquet files through Arrow, which only parquet.cpp sees; in a build without it
// parquet_missing.cpp answers.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "common/io/json_lines.h"

namespace lie {

/// Whether this build reads and writes Parquet.
bool parquet_is_built();

/// Calls `visit` with each row in order, placed as "train.parquet:row 12", rows counted from 1.
/// Reads one batch of rows at a time. Lists and structs become JSON lists and objects; texts,
/// numbers and booleans stay; times, dates and decimals become texts; columns of other types are
/// left out. Throws Error if the file cannot be read, or in a build without Arrow.
void for_each_parquet_row(const std::filesystem::path& path,
                          const std::function<void(const JsonRow&)>& visit);

/// Writes the table of `input` to `output` with `values`, one a row, as a column of that name; a
/// column that has the name already is replaced. The file appears whole or not at all. Throws
/// Error.
void add_parquet_column(const std::filesystem::path& input, const std::filesystem::path& output,
                        const std::string& name, std::span<const double> values);

}  // namespace lie
