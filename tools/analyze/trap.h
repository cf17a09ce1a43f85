// The shallow exploration trap (arXiv:2602.11748, Lemma) as the log shows it: where responses end,
// how rare long ones are, and how coverage follows length.
#pragma once

#include <vector>

#include "tools/analyze/run.h"
#include "tools/analyze/statistics.h"

namespace lie::analyze {

struct TrapStatistics {
  /// Training responses of the first and of the last tenth of the steps.
  LengthStatistics start, end;
  /// Pearson's, of length and C_context, over all training responses.
  double correlation = 0;
};

/// Over all runs of the subject together.
TrapStatistics trap_statistics(const Subject& subject);

/// Length and C_context of evenly chosen training responses.
std::vector<std::pair<double, double>> length_and_coverage(const Subject& subject,
                                                           std::size_t at_most);

}  // namespace lie::analyze
