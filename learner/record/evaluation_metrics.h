// The metrics of an evaluation: over all responses, by data source, and as the mean over sources.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/record/metrics.h"

namespace lie {

/// Separates metric and source in names: eval_accuracy_on_math500.
inline constexpr std::string_view kOnSource = "_on_";
/// The metric that the paper calls "Avg.": every source has the same weight, whatever its size.
inline constexpr std::string_view kSourceMean = "eval_accuracy_source_mean";

/// Adds eval_accuracy and others over all responses. With several data sources it also adds the
/// means over sources of accuracy and program numbers. Accuracy, length, truncation and program
/// numbers per source follow, in alphabetical order of sources.
void add_evaluation_metrics(MetricsWriter& out, std::span<const ScoredGroup> evaluation);

/// Returns the names of the metrics above for an evaluation of `prompts` with scores like
/// `example`.
std::vector<std::string> evaluation_metric_names(std::span<const Prompt> prompts,
                                                 const Score& example);

/// Maps the data sources of `groups` to their names in metrics. Letters, digits, "_", "-", "." and
/// characters beyond ASCII are kept. Other bytes and invalid UTF-8 become "_", and an empty source
/// is "unnamed". Duplicate names get the suffixes "_2", "_3", ...
std::map<std::string, std::string> source_names(std::span<const ScoredGroup> groups);

}  // namespace lie
