// The KL term of the loss: kl_coefficient times an estimate of KL(policy || initial policy).
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/options.h"
#include "learner/loss/surrogate/importance_ratio.h"
#include "learner/loss/surrogate/sequence_input.h"

namespace lie {

/// Estimators of KL(policy || reference), named as by Schulman. kWeightedK3 is k3 times the
/// importance ratio of the token (DeepSeek-V3.2, arXiv:2512.02556).
enum class KlEstimator : std::uint8_t { kK1, kK2, kK3, kWeightedK3 };

struct KlTermOptions {
  double kl_coefficient = 0;  // weight of the term, at least 0; 0: off
  KlEstimator kl_estimator = KlEstimator::kK3;
};
void describe(FieldList& fields, KlTermOptions& options);

/// Throws Error if the estimator's expected gradient is not that of a divergence.
void check_options(const KlTermOptions& options);

/// The KL term of a response. All members are 0 without a coefficient.
struct KlTerm {
  double loss = 0;                  // weighted contribution to the mini-batch's loss
  double estimates = 0;             // sum over the tokens
  std::vector<double> slopes = {};  // [T] derivative of the unweighted loss by the log-prob
};

KlTerm kl_term(const KlTermOptions& options, const SequenceInput& input);

/// An estimate of the divergence at a sampled token, and its derivative by the log-prob.
struct KlEstimate {
  double value = 0;
  double slope = 0;
};

/// Estimates KL(policy || reference) from x = log policy - log reference at a sampled token
/// (Schulman, "Approximating KL divergence", 2020). On policy, the expected derivative of k2 and of
/// the weighted k3 is the gradient of KL(policy || reference), that of k3 the gradient of
/// KL(reference || policy). check_options() refuses k1, whose expected derivative is 0. `ratio` is
/// the token's importance ratio.
KlEstimate estimated_kl(KlEstimator estimator, double x, Ratio ratio);

}  // namespace lie
