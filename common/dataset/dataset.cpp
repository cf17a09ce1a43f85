#include "common/dataset/dataset.h"

#include <utility>

#include "common/base/error.h"
#include "common/dataset/rows.h"
#include "common/text/counted.h"

namespace lie {
namespace {

/// Returns the measured accuracy of a row. A curriculum needs it of every row.
double accuracy_of(const JsonRow& row, const std::string& field) {
  const auto accuracy = row.number(field);
  if (!accuracy) {
    fail(
        "{}: field {} is missing; correct data.accuracy_field, or measure the accuracies by "
        "lie_cluster reference-lengths",
        row.place(), field);
  }
  if (!(*accuracy >= 0 && *accuracy <= 1)) {
    fail("{}: field {}: expected an accuracy from 0 to 1, found {}; divide percentages by 100",
         row.place(), field, *accuracy);
  }
  return *accuracy;
}

}  // namespace

Dataset read_dataset(const std::filesystem::path& path, const MakePrompt& make,
                     bool skip_bad_rows) {
  Dataset dataset;
  const auto take = [&](const JsonRow& row, std::int64_t number) {
    dataset.prompts.push_back(make(row, dataset.counts));
    dataset.prompts.back().problem = number;
  };
  dataset.rows = for_each_row(path, take, skip_bad_rows ? &dataset.skipped : nullptr);
  if (dataset.prompts.empty()) {
    fail("{}: every row is bad; the first: {}", path.string(), dataset.skipped.front());
  }
  if (dataset.counts.zero_keys > 0 && dataset.counts.digit_keys > 0) {
    fail(
        "{}: the correct choice is 0 in {} and another number in {}: numbers are read as counted "
        "from 1, so these would be misread; set data.first_choice=0, or write letters",
        path.string(), counted(dataset.counts.zero_keys, "row"), dataset.counts.digit_keys);
  }
  return dataset;
}

Dataset read_dataset(const std::filesystem::path& path, const RowOptions& options,
                     const RenderPrompt& render) {
  RowOptions read = options;
  std::vector<double> accuracies;
  const auto make = [&](const JsonRow& row, RowCounts& counts) {
    if (read.find_fields && name_fields(row, read)) read.find_fields = false;
    Prompt prompt = prompt_of(row, read, render, counts);
    if (!read.read_accuracy.empty()) accuracies.push_back(accuracy_of(row, read.read_accuracy));
    return prompt;
  };
  Dataset dataset = read_dataset(path, make, options.skip_bad_rows);
  dataset.accuracies = std::move(accuracies);
  dataset.options = read;
  return dataset;
}

std::string skipped_rows_text(const Dataset& dataset) {
  if (dataset.skipped.empty()) return "";
  return fmt::format("{} of {} rows skipped; the first: {}", dataset.skipped.size(), dataset.rows,
                     dataset.skipped.front());
}

}  // namespace lie
