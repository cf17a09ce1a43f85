// How far the policy of a step's update is from the one that sampled.
#pragma once

#include <span>

#include "common/rollout/rollout.h"
#include "learner/update/update.h"

namespace lie {

/// Returns the effective sample size (Kong 1992) of a step's N responses, divided by N:
/// (sum w)^2 / (N sum w^2). The weight of a response y is w = pi(y) / mu(y). Here mu is the
/// behavior policy, and pi the learner's when it first trains on y, or before the step's first
/// update with policy_loss.recompute_old_log_probs. The result is 1 if all weights are equal, as
/// on-policy, and 1/N if one response has all the weight. NaN without responses. `groups` must be
/// the groups of `update`.
double effective_sample_share(std::span<const ScoredGroup> groups, const StepUpdate& update);

/// Learner log-probs minus sampler log-probs, in nats, over the responses of a step's first
/// mini-batch, before any update of the step. For the same policy the difference is exactly 0 on
/// the CPU (invariant E5: one policy). On a GPU it is rounding error, which uses up part of GSPO's
/// clip band of 3e-4 on the mean of a response.
struct LogProbDifference {
  double mean = 0;          // mean over tokens of |difference|
  double sequence_max = 0;  // largest |mean difference| of a response
};
/// Returns the differences of a step; NaN without responses.
LogProbDifference log_prob_difference(std::span<const ScoredGroup> groups,
                                      const StepUpdate& update);

}  // namespace lie
