// The metrics of a step's policy update.
#pragma once

#include "learner/record/metrics.h"
#include "learner/update/update.h"

namespace lie {

/// Adds the metrics of an update:
/// - over the response tokens of all mini-batches: clip fractions, importance ratios, losses, and
///   approximate KL (k1: mean of -d_t; k3: mean of r_t - 1 - d_t);
/// - of the first epoch: entropies; of the first mini-batch: the on-policy check;
/// - gradient norms over applied updates, learning rate of the last update, seconds per phase.
/// At the sequence level the importance ratio of a token is that of its sequence.
void add_update_metrics(MetricsWriter& out, const StepUpdate& update);

}  // namespace lie
