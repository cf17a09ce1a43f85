// Rows into a JSONL or Parquet file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/stream.h"

namespace lie {

/// A JSON object whose fields keep their order.
using Row = nlohmann::ordered_json;

/// Whether the name ends as Parquet files do; any other is JSONL. Case matters.
bool is_named_parquet(const std::filesystem::path& path);

/// Writes rows beside `path`, and renames the file to it when closed; never holds more than a batch
/// of them. Every row has the fields of `example`, and their kinds: texts, integers, numbers,
/// booleans, lists of one kind, and objects; null is of any. Parquet takes its schema from there,
/// so a list of `example` has an element. Texts are UTF-8. Throws Error naming the file.
std::unique_ptr<Sink<Row>> open_row_file(const std::filesystem::path& path, const Row& example);

}  // namespace lie
