// The result of an advantage estimator. advantages.h lists the estimators.
#pragma once

#include <vector>

namespace lie {

/// The advantages of one group, and how much each reward term contributes to them.
struct GroupAdvantages {
  std::vector<double> values;  // [G]
  /// [terms] Sum over the group of |A_ik|, where A_ik is the contribution of term k to A_i. The
  /// metric advantage_mass_<k> is this sum over a step, divided by the sum over all terms.
  std::vector<double> mass;
};

}  // namespace lie
