// The rows of a study: what is run, what it mirrors in the paper, and what it is compared with.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lie::study {

/// A training config under these settings, run with several seeds.
struct Row {
  std::string name;
  std::string table;    // rows of one title stand together
  std::string paper;    // what it mirrors
  std::string against;  // the row it is compared with, seed by seed; empty: none
  std::vector<std::pair<std::string, std::string>> settings;  // full keys of the training config
};

/// Reads a file such as configs/study/rows.yaml: a section for each row, in their order. Throws
/// Error if a row has no table, or `against` names no row.
std::vector<Row> load_rows(const std::filesystem::path& path);

/// One line for each row, for scripts: its name and key=value of its settings, by tabs.
std::string overrides_text(const std::vector<Row>& rows);

}  // namespace lie::study
