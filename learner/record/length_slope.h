// The slope of correctness on length within groups: whether longer responses to a prompt are
// correct more often.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lie {

struct Slope {
  double value = 0;         // change of the share of correct responses, per token
  double error = 0;         // standard error for other groups of the same kind; 0 with one group
  std::int64_t groups = 0;  // with responses of different lengths: the others say nothing
};

/// A least-squares line of correctness on length with an intercept for each group. The standard
/// error is the sandwich estimate with groups as clusters (Liang and Zeger 1986).
class SlopeWithinGroups {
 public:
  /// Adds a group: tokens and correctness (0 or 1) of each response, in the same order.
  void add(std::span<const double> tokens, std::span<const double> correct);

  Slope slope() const;

 private:
  struct Sums {
    double lengths = 0, products = 0;  // of squared deviations, and of deviations' products
  };
  std::vector<Sums> groups_;
};

}  // namespace lie
