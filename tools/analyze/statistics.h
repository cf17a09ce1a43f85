// Statistics of the report other than intervals: response lengths, and those of the shallow
// exploration trap (arXiv:2602.11748, Lemma): where responses end, how rare long ones are,
// and how coverage grows with length.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tools/analyze/run.h"

namespace lie::analyze {

/// Statistics of response lengths and ends, in bins of positions.
struct LengthStatistics {
  struct Bin {
    double position = 0;       // middle of the bin, tokens
    std::int64_t exposed = 0;  // tokens sampled at its positions
    std::int64_t ended = 0;    // end-of-sequence tokens among them
    double hazard() const { return static_cast<double>(ended) / static_cast<double>(exposed); }
  };
  std::int64_t responses = 0, longest = 0;
  std::vector<Bin> bins;  // only bins with tokens
  std::vector<std::pair<double, double>>
      tail;  // L, and the share of responses with at least L tokens
  /// The smallest hazard of a bin that at least 5 % of the responses reach. The lemma of the
  /// shallow exploration trap (arXiv:2602.11748) bounds the share of responses of L tokens by (1 -
  /// eps)^(L - 1), eps being a lower bound at every position and prefix. A bin's hazard is a mean
  /// over both, hence no such bound: eps is at most this.
  double smallest_hazard = 0;
};

/// The length of one response, and whether it ended before the limit.
struct ResponseEnd {
  std::int32_t tokens = 0;
  bool ended = false;
};

LengthStatistics length_statistics(std::span<const ResponseEnd> responses);

/// Returns at most `most` of the elements, evenly spaced and in their order.
template <typename T>
std::vector<T> evenly_chosen(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(all[i * all.size() / most]);
  return chosen;
}

struct TrapStatistics {
  /// Lengths of training responses in the first and in the last tenth of the steps.
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
