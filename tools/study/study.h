// What came out of a study: rows of seeds, their means, and differences between matched pairs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/run.h"
#include "tools/statistics/intervals.h"
#include "tools/study/study_rows.h"

namespace lie::study {

/// The runs of a row that are finished. Runs hold curves and settings, no trajectories.
struct RowResult {
  Row row;
  std::vector<std::int64_t> seeds;  // ascending
  analyze::Subject subject;         // the row's name, and a run for each seed
};

struct Study {
  std::vector<RowResult> rows;     // in the order of the rows' file, those without a run, too
  std::vector<std::string> notes;  // runs that are not finished
};

/// Reads a directory that scripts/study.sh filled: rows.yaml, and runs in <row>/seed-<n>. Throws
/// Error if a run has not its row's settings, or differs from another row's in a key that neither
/// row sets (but seed, directory and threads): such runs say nothing about the rows.
Study load_study(const std::filesystem::path& directory);

/// Final held-out accuracy of each run, [seeds].
std::vector<double> final_accuracies(const RowResult& result);

/// Mean over the seeds, with Student's 95 % interval within the metric's bounds: of an evaluation's
/// metric at the end, of another over the last tenth of the steps. Nothing where not every run has
/// the metric.
std::optional<Estimate> final_mean(const RowResult& result, const std::string& metric);

/// final_mean() of the held-out accuracy; the row has a run.
Estimate final_accuracy(const RowResult& result);

/// A row's final held-out accuracy less that of the row it is compared with.
struct Difference {
  Estimate mean;  // over the seeds that both have, with Student's 95 % interval
  std::size_t pairs = 0;
  std::size_t above = 0;  // pairs with a positive difference
};

/// Nothing where the row is compared with none or they share no seed.
std::optional<Difference> paired_difference(const Study& study, const RowResult& result);

/// The result of that row, or null.
const RowResult* find_result(const Study& study, const std::string& name);

/// A title with its rows; before them the rows of other tables that they are compared with.
struct Table {
  std::string title;
  std::vector<const RowResult*> rows;  // into the study
};

/// Tables with runs, rows with runs.
std::vector<Table> tables_of(const Study& study);

}  // namespace lie::study
