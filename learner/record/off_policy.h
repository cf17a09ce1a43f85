// How far the policy that is trained has gone from the one that sampled.
#pragma once

#include <span>

#include "common/rollout/rollout.h"
#include "learner/update/update.h"

namespace lie {

/// Effective sample size (Kong 1992) of a step's responses over their number: (sum w)^2 / (N sum
/// w^2), with w = pi(y) / mu(y) of a whole response, pi the learner's policy when first trained on,
/// mu the behavior policy. 1: all weights are equal, as on policy; 1/N: one response has all the
/// weight. NaN without responses. `groups` are those that
/// `update` was made of.
double effective_sample_share(std::span<const ScoredGroup> groups, const StepUpdate& update);

/// The learner's log-probs less the sampler's, nats, over the responses of a step's first
/// mini-batch, before any update of the step. Of one policy the CPU's operators make it exactly 0
/// (invariant E5), a GPU's leave rounding: as much of GSPO's clip band (3e-4 on a response's mean)
/// is lost to it.
struct LogProbDifference {
  double mean = 0;          // of |difference| over tokens
  double sequence_max = 0;  // largest |mean difference| of a response
};
/// NaN without responses.
LogProbDifference log_prob_difference(std::span<const ScoredGroup> groups,
                                      const StepUpdate& update);

}  // namespace lie
