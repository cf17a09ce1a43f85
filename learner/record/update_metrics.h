// The metrics of a step's update.
#pragma once

#include "learner/record/metrics.h"
#include "learner/update/update.h"

namespace lie {

/// Clip fractions, importance ratios, approximate KL (k1: mean of -d_t; k3: mean of r_t - 1 - d_t),
/// losses, all over response tokens of all mini-batches; entropies and the on-policy check of the
/// first pass; gradient norm over applied updates; learning rate of the last one; seconds. With
/// GSPO the importance ratio is the sequence's, counted on each of its tokens.
void add_update_metrics(MetricsWriter& out, const StepUpdate& update);

}  // namespace lie
