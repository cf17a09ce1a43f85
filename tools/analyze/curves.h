// Curves of a subject, with intervals: over seeds, or binomial for the accuracy of one run.
#pragma once

#include <string>
#include <vector>

#include "tools/analyze/run.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {

struct CurvePoint {
  std::int64_t step = 0;
  Estimate value;
};

/// One run: its curve; accuracy and eval_accuracy with Wilson's interval of that step's responses.
/// Several: mean over the runs with a t interval, at the steps that all of them have; it ends where
/// the quantity does, at 0 and 1 for shares.
std::vector<CurvePoint> subject_curve(const Subject& subject, const std::string& metric);

/// Mean of a curve over its first and its last steps; the window is a tenth of the steps.
struct StartAndEnd {
  bool known = false;
  Estimate start, end;
  std::size_t window = 0;  // steps
};

/// For several runs the interval is t over them; for one run's accuracies it is binomial over the
/// window's responses.
StartAndEnd start_and_end(const Subject& subject, const std::string& metric);

/// Steps in a tenth of `count`, at least one.
std::size_t window_of(std::size_t count);

}  // namespace lie::analyze
