// Reads the shared JSONL corpora, which are not part of the repository.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/directories.h"

namespace lie {

/// Returns the folder of the shared data, next to the repository.
inline std::filesystem::path shared_data() {
  return std::filesystem::path(source_directory()) / ".." / "shared" / "data";
}

/// Returns the rows of a JSONL file or JSON array, or none where the file is absent.
inline std::vector<nlohmann::json> rows_of(const std::filesystem::path& path) {
  std::vector<nlohmann::json> rows;
  std::ifstream in(path);
  if (in && in.peek() == '[') return nlohmann::json::parse(in).get<std::vector<nlohmann::json>>();
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

}  // namespace lie
