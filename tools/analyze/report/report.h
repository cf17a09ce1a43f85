// The HTML report: one self-contained file about one run, or several side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

struct ShownCurves {
  std::vector<std::int64_t> grid;   // the steps that all curves keep; empty: curves keep all steps
  Json by_subject = Json::array();  // [{metric: [point]}]
  std::vector<std::string> shares;  // the metrics that are shares
};

/// Returns all curves. Values that are not finite are omitted. If there are many steps, each metric
/// keeps a grid of them, and the steps at which some subject's value is smallest or largest between
/// two steps of the grid.
ShownCurves shown_curves(std::span<const Subject> subjects);

/// Returns {metric: [start, end, low, high]} as texts; the interval is that of the end.
Json ends_of(const Subject& subject);

/// Returns the lines of the hazard and of the tail, and how length and C_context are related.
Json trap_of(const Subject& subject);

struct ReportOptions {
  std::size_t responses = 6;         // of a step
  std::int64_t refresh_seconds = 0;  // 0: the page does not read its file again
};

/// Returns what the report shows, as JSON; assets/report/page.js lays it out. A point of a curve is
/// [step, value], or [step, value, low, high] if it has an interval. Values have six digits.
///
///   made, build_id   texts
///   refresh          seconds after which the page reads its file again, or null
///   subjects         [{name, last_step, runs, progress, settings, curves, ends, trap, evaluation,
///   evaluation_confidence, responses}]:
///     runs           [{directory, state, is_live, starts, changes: [step], details: [text],
///                    notes: [text]}], with starts as starts_of() returns them
///     progress       tokens and hours by step, as progress_of() returns them
///     settings       [[key, value]]
///     curves         {metric: [point]}
///     ends           {metric: [start, end, low, high]}, texts; the interval is that of the end
///     trap           {hazard: {start, end}, tail: {start, end}, correlation, length_and_coverage}
///     evaluation, evaluation_confidence  as evaluation_of() returns them
///     responses      [response] by step, as response_json() returns them
///   grid             the steps that all curves keep, or null if curves hold all steps
///   shares           the metrics that are shares; source_mean: the metric of held-out accuracy
///   sources, verdicts [{name, metric}]; rewards [{name, about}]; numbers [name]; ngrams [n]
///   train, evaluate  [{source, prompts: [[response of each subject]]}]
///
/// The size is bounded: curves of many steps keep the steps at which some subject's value is
/// smallest or largest in its stretch. Throws Error naming a table.json that eval did not write.
Json report_data(std::span<const Subject> subjects, const ReportOptions& options);

/// Returns the report.
std::string html_report(std::span<const Subject> subjects, const ReportOptions& options);

}  // namespace lie::analyze
