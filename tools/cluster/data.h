// lie_cluster data: checks a data file as training would read it, and describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lie {

struct DataArguments {
  std::filesystem::path file;   // JSONL or Parquet
  std::filesystem::path model;  // directory with tokenizer.json; empty: lengths in characters
  std::vector<std::string> overrides;  // key=value of RowOptions
  std::int64_t max_prompt_tokens = 1024;
  bool show_first = false;  // print the first prompt as rendered for the model
};

/// Reads the file row by row as training would, but skips bad rows, and describes it. The text has
/// the number of rows and of bad rows, with the first reasons. For each data source it has the
/// number of prompts and of distinct ones, and quantiles of prompt length and L_ref. Throws Error
/// if the file cannot be read or has no valid row.
std::string describe_data(const DataArguments& arguments);

}  // namespace lie
