#include "learner/loss/off_policy_mask.h"

#include "common/base/arithmetic.h"
#include "learner/loss/surrogate/importance_ratio.h"

namespace lie {

void describe(FieldList& fields, OffPolicyMaskOptions& options) {
  fields.add(
      "delta", options.delta,
      {"Off-policy sequence masking (DeepSeek-V3.2, arXiv:2512.02556): a response with a "
       "negative advantage has no surrogate loss if the mean of behavior - new log-prob over "
       "its tokens is above this. It still counts in the denominator. 0: off.",
       "nats", 0});
}

bool is_masked(const OffPolicyMaskOptions& options, const SequenceInput& input) {
  if (!options.is_on() || input.advantage >= 0) return false;
  return mean_of(log_ratios(input.behavior_log_probs, input.log_probs)) > options.delta;
}

}  // namespace lie
