// An entropy target: the coefficient of the entropy term rises while the entropy is below the
// target, and falls while it is above (Skywork-OR1, arXiv:2505.22312).
#pragma once

#include "common/config/options.h"

namespace lie {

struct EntropyTargetOptions {
  double nats = 0;       // target of the mean token entropy of a step; 0: off
  double change = 5e-3;  // of the coefficient per step, above 0
  bool is_on() const { return nats > 0; }
};
void describe(FieldList& fields, EntropyTargetOptions& options);

/// Throws Error if there is a target, but the coefficient may not change.
void check_options(const EntropyTargetOptions& options);

/// Returns the coefficient of the entropy term in a step whose responses have this mean entropy
/// under the policy before the step: `coefficient`, or 0 if the entropy is above the target.
double applied_coefficient(const EntropyTargetOptions& options, double coefficient, double entropy);

/// Returns the coefficient of the next step: one `change` higher, or lower if the entropy is above
/// the target. It is 0 before the first step. Unlike the paper's it is never negative: a negative
/// one would lower an entropy that has just fallen below the target.
double next_coefficient(const EntropyTargetOptions& options, double coefficient, double entropy);

}  // namespace lie
