// An evaluation in numbers: over all responses, by data source, and as the mean over sources.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/record/metrics.h"

namespace lie {

/// Stands before the source in the names of metrics: eval_accuracy_on_math500.
inline constexpr std::string_view kOnSource = "_on_";
/// The paper's "Avg.": each source counts as much, however many rows it has.
inline constexpr std::string_view kSourceMean = "eval_accuracy_source_mean";

/// eval_accuracy and others over all responses. With several data sources also accuracy, length,
/// truncation and numbers by source, in alphabetical order, and the means of accuracy and of the
/// numbers over sources.
void add_evaluation_metrics(MetricsWriter& out, std::span<const ScoredGroup> evaluation);

/// The names of the metrics above for an evaluation of `prompts`, scored as `example` is.
std::vector<std::string> evaluation_metric_names(std::span<const Prompt> prompts,
                                                 const Score& example);

/// The data sources of groups with their names in metrics: letters, digits, "_", "-" and "." stay,
/// all else becomes "_"; "unnamed" for none. Where names would be the same, the later have "_2",
/// ...
std::map<std::string, std::string> source_names(std::span<const ScoredGroup> groups);

}  // namespace lie
