// Curves of a subject with intervals: over seeds, or over prompts for the accuracy of one run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/run.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {

/// The metric of one verdict's share of responses, and its words: "no answer".
struct VerdictLine {
  std::string metric, words;
};

/// Returns a line for every VerdictCode, in the order of the codes.
std::vector<VerdictLine> verdict_lines();

/// Returns "equal", "unequal", ... for a number of VerdictCode in common/rollout/verdict.h.
std::string verdict_word(std::uint8_t code);

struct CurvePoint {
  std::int64_t step = 0;
  Estimate value;
};

/// Returns the curve of a metric. For one run, accuracies have the interval over that step's
/// prompts (share_over_prompts), with dropped prompts counted as in the value. Equal rows of an
/// evaluation are one prompt. For several runs, the curve is their mean with a t interval, at the
/// steps that all of them have. Intervals are cut to the range of the quantity, such as [0, 1] for
/// shares.
std::vector<CurvePoint> subject_curve(const Subject& subject, const std::string& metric);

/// Returns whether the values of a metric are shares in [0, 1].
bool is_share(std::string_view metric);

/// Mean of a curve over its first and its last steps; the window is a tenth of the steps.
struct StartAndEnd {
  bool known = false;
  Estimate start, end;
  std::size_t window = 0;  // steps
};

/// Returns the start and end of a metric. For several runs the interval is a t interval over them.
/// For the accuracies of one run it is that of the window's prompts.
StartAndEnd start_and_end(const Subject& subject, const std::string& metric);

/// Returns the number of steps in a tenth of `count`, at least 1.
std::size_t window_of(std::size_t count);

}  // namespace lie::analyze
