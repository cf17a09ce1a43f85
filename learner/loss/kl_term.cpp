#include "learner/loss/kl_term.h"

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, KlTermOptions& options) {
  fields.add("kl_coefficient", options.kl_coefficient,
             {"Weight of KL(policy || initial policy) in the loss. 0: off, and the initial policy "
              "takes no memory.",
              "", 0});
  fields.add(
      "kl_estimator", options.kl_estimator,
      {{"k1", KlEstimator::kK1},
       {"k2", KlEstimator::kK2},
       {"k3", KlEstimator::kK3},
       {"weighted-k3", KlEstimator::kWeightedK3}},
      {"Estimator of that KL from x = log policy - log initial policy at the sampled tokens: k2 is "
       "x^2/2, k3 is exp(-x) - 1 + x, weighted-k3 is k3 times the token's importance ratio "
       "(DeepSeek-V3.2). k2 and weighted-k3 have the gradient of KL(policy || initial policy), k3 "
       "that of KL(initial policy || policy). k1, which is x, is refused: its expected gradient is "
       "0. Ignored with kl_coefficient 0."});
}

void check_options(const KlTermOptions& options) {
  if (options.kl_coefficient > 0 && options.kl_estimator == KlEstimator::kK1) {
    fail(
        "policy_loss.kl_estimator is k1: as a loss its expected gradient is 0, so it does not hold "
        "the policy near the initial one, and it changes the length of responses; use k2, k3 or "
        "weighted-k3");
  }
}

KlEstimate estimated_kl(KlEstimator estimator, double x, Ratio ratio) {
  if (estimator == KlEstimator::kK2) return {0.5 * x * x, x};
  const Ratio inverse = limited_exp(-x);
  const KlEstimate k3 = {inverse.value + x - 1.0, 1.0 - inverse.slope};
  if (estimator == KlEstimator::kK3) return k3;
  return {ratio.value * k3.value, ratio.slope * k3.value + ratio.value * k3.slope};
}

KlTerm kl_term(const KlTermOptions& options, const SequenceInput& input) {
  KlTerm term;
  term.slopes.resize(input.log_probs.size());
  if (options.kl_coefficient == 0) return term;
  const std::vector<double> d = log_ratios(input.log_probs, input.old_log_probs);
  const std::vector<double> x = log_ratios(input.log_probs, input.reference_log_probs);
  for (std::size_t t = 0; t < x.size(); ++t) {
    const KlEstimate estimate = estimated_kl(options.kl_estimator, x[t], limited_exp(d[t]));
    term.estimates += estimate.value;
    term.slopes[t] = options.kl_coefficient * estimate.slope;
  }
  term.loss = input.weight * options.kl_coefficient * term.estimates;
  return term;
}

}  // namespace lie
