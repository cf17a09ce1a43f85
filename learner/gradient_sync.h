// What learners reduce after a mini-batch. Each function is collective over the learners, in the
// order of update.cpp.
#pragma once

#include <span>

#include "common/comm/collective.h"
#include "learner/policy_loss.h"

namespace lie {

/// The gradient of the whole mini-batch on every learner, in place: losses carry global
/// denominators, so gradients add. Blocks.
void sum_gradients(Collective& learners, DeviceSpan gradient);

/// Sums and extremes over all learners, on every learner. Blocks.
void sum_stats(Collective& learners, PolicyLossStats& stats);

/// Makes `values` known to all where each learner filled in its own elements and left the others 0.
/// Blocks.
void share_values(Collective& learners, std::span<float> values);

}  // namespace lie
