// The best checkpoint of a run: that of the evaluated step with the greatest value of a metric.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "common/config/options.h"

namespace lie {

struct BestCheckpointOptions {
  std::string keep_best;  // a metric; empty: none
};
void describe(FieldList& fields, BestCheckpointOptions& options);

/// Throws Error if keep_best is none of `given`, the metrics of an evaluation; empty: there is
/// none.
void check_options(const BestCheckpointOptions& options, std::span<const std::string> given);

/// The best step by metrics.jsonl of those whose checkpoint is there, of equal ones the earliest.
/// Empty where none has the metric. As the best is never removed, nothing else need remember it.
std::optional<std::int64_t> best_saved_step(const std::filesystem::path& run_directory,
                                            const std::string& metric);

}  // namespace lie
