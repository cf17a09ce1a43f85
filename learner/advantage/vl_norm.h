// VL Normalization (arXiv:2509.07558): advantages are multiplied by weights that fall with a
// response's length, so that the sum over tokens has the least variance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

struct VlNormOptions {
  static constexpr const char* kName = "vl_norm";
  static constexpr const char* kAbout =
      "VL Normalization (arXiv:2509.07558), (reward - mean) / std of the group times a weight that "
      "falls with the response's length, (L / mean L)^-alpha divided by its mean over the step; "
      "meant for policy_loss.aggregation constant";
  static constexpr std::int64_t kLeastGroup = 2;
  static constexpr const char* kAggregation = "constant";

  double alpha = 0.75;
  bool normalize_by_std = true;
};
void describe(FieldList& fields, VlNormOptions& options);

/// Returns the advantages of each group times length_weights() of the step. A group of equal
/// rewards has exactly 0.
std::vector<GroupAdvantages> estimated_advantages(const VlNormOptions& options,
                                                  std::span<const ScoredGroup> groups);

/// Returns w_i / mean w with w_i = (L_i / mean L)^-alpha, for lengths L in tokens, which must be
/// above 0.
std::vector<double> length_weights(std::span<const double> lengths, double alpha);

}  // namespace lie
