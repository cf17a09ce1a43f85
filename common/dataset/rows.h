// Reads the rows of a dataset file, JSONL or Parquet, one after another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/io/json_lines.h"

namespace lie {

/// Returns whether a file begins with Parquet's magic bytes, whatever its name. Throws Error if it
/// cannot be read.
bool is_parquet(const std::filesystem::path& path);

/// The visitor of for_each_row(): receives each row and its number, from 0.
using VisitRow = std::function<void(const JsonRow& row, std::int64_t number)>;

/// Calls `visit` with each row in order, holding at most a batch of rows in memory. Returns the
/// number of rows. An Error about a row (not a JSON object, or thrown by `visit`) ends the call. If
/// `skipped` is given, its text is appended there instead and the next row follows. Throws Error if
/// the file is missing, unreadable or empty.
std::int64_t for_each_row(const std::filesystem::path& path, const VisitRow& visit,
                          std::vector<std::string>* skipped = nullptr);

}  // namespace lie
