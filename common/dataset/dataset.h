// Reads the prompts of a JSONL or Parquet file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/dataset/prompt_rows.h"

namespace lie {

/// The prompts of a file.
struct Dataset {
  std::vector<Prompt> prompts;       // `problem` is the row's number in the file, from 0
  std::int64_t rows = 0;             // number of rows in the file
  std::vector<std::string> skipped;  // reason per skipped row; only with skip_bad_rows
  std::vector<double> accuracies;    // by prompt, from RowOptions::read_accuracy
  RowCounts counts;
  RowOptions options;                // by which the rows were read, with the fields that were found
  std::vector<std::string> remarks;  // for the user: possible mistakes in the data, a sentence each
};

/// Makes the prompt of a row, like prompt_of().
using MakePrompt = std::function<Prompt(const JsonRow& row, RowCounts& counts)>;

/// Reads one Prompt per row. Throws the Error of `make` for the first malformed row, or, with
/// `skip_bad_rows`, Error if all rows are malformed or choices are numbered from 0.
Dataset read_dataset(const std::filesystem::path& path, const MakePrompt& make, bool skip_bad_rows);
/// Reads one Prompt per row by prompt_of().
Dataset read_dataset(const std::filesystem::path& path, const RowOptions& options,
                     const RenderPrompt& render = {});

/// Returns "2 of 100 rows skipped; the first: train.jsonl:7: ...". Empty if no row was skipped.
std::string skipped_rows_text(const Dataset& dataset);

}  // namespace lie
