// A small table as an HDF5 file: one one-dimensional dataset a column, all of the same length.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lie::h5 {

struct TableColumn {
  std::string name;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
};

/// Replaces `path` by a file that holds the columns; texts are UTF-8 of variable length. The file
/// appears whole or not at all. Throws Error.
void write_table(const std::filesystem::path& path, std::span<const TableColumn> columns);

}  // namespace lie::h5
