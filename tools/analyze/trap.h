// Statistics of the shallow exploration trap (arXiv:2602.11748, Lemma): where responses end, how
// rare long ones are, and how coverage grows with length.
#pragma once

#include <vector>

#include "tools/analyze/run.h"
#include "tools/analyze/statistics.h"

namespace lie::analyze {

struct TrapStatistics {
  /// Of training responses in the first and in the last tenth of the steps.
  LengthStatistics start, end;
  /// Pearson's correlation of length and C_context within a step, mean over the steps where it is
  /// defined. It is near 1 by construction where R_context is: a response of L units without a
  /// repetition has L - n + 1 distinct n-grams. NaN without such a step.
  double correlation = 0;
};

/// Computes the statistics over all runs of the subject together.
TrapStatistics trap_statistics(const Subject& subject);

/// Returns length and C_context of at most `at_most` evenly spaced training responses.
std::vector<std::pair<double, double>> length_and_coverage(const Subject& subject,
                                                           std::size_t at_most);

}  // namespace lie::analyze
