// Off-policy sequence masking (OPSM; DeepSeek-V3.2, arXiv:2512.02556): incorrect
// responses that the policy has moved far away from have no surrogate loss.
#pragma once

#include "common/config/options.h"
#include "learner/loss/surrogate/sequence_input.h"

namespace lie {

struct OffPolicyMaskOptions {
  double delta = 0;  // nats per token, above 0; 0: off
  bool is_on() const { return delta > 0; }
};
void describe(FieldList& fields, OffPolicyMaskOptions& options);

/// Returns whether a response is masked: its advantage is negative, and the mean of behavior - new
/// log-prob over its tokens is above delta. The sampler's log-probs count both staleness and
/// rounding. No gradient flows through the mask.
bool is_masked(const OffPolicyMaskOptions& options, const SequenceInput& input);

}  // namespace lie
