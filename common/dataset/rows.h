// The rows of a dataset file, JSONL or Parquet, one after the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/io/json_lines.h"

namespace lie {

/// Whether a file begins as Parquet files do, whatever its name. Throws Error if it cannot be read.
bool is_parquet(const std::filesystem::path& path);

/// Called with each row and its number, from 0.
using VisitRow = std::function<void(const JsonRow& row, std::int64_t number)>;

/// Calls `visit` with each row in order; never holds more than a batch of them. An Error about a
/// row (no JSON object, or thrown by `visit`) ends the call; with `skipped` its text is added there
/// and the next row follows. Throws Error if the file is missing, cannot be read, or has no row.
/// Returns the number of rows.
std::int64_t for_each_row(const std::filesystem::path& path, const VisitRow& visit,
                          std::vector<std::string>* skipped = nullptr);

}  // namespace lie
