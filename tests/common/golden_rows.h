// Reads the rows of a golden file in tests/common/golden.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/io/json_lines.h"
#include "tests/directories.h"

namespace lie {

/// Returns the JSON objects of tests/common/golden/`name`, one per line, with their line numbers
/// from 1.
inline std::vector<JsonRow> golden_rows(const std::string& name) {
  std::ifstream file(source_directory() + ("/tests/common/golden/" + name));
  std::vector<JsonRow> rows;
  for (std::string line; std::getline(file, line);) {
    rows.push_back(parse_json_row(line, name + ":" + std::to_string(rows.size() + 1)));
  }
  if (rows.empty()) fail("{}: no golden rows", name);
  return rows;
}

}  // namespace lie
