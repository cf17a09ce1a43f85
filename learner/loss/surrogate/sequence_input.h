// The inputs of the loss for one response.
#pragma once

#include <span>

namespace lie {

/// What token rules change of the loss of one token, which is factor x surrogate(advantage) +
/// divergence x |log_prob - old log_prob|, times its TIS weight. No gradient flows through them.
struct TokenTerm {
  double advantage = 0;   // the response's, unless a rule changes it
  double factor = 1;      // 0: the token has no surrogate loss, but still counts in denominators
  double divergence = 0;  // at least 0
};

struct SequenceInput {
  std::span<const float> log_probs;            // [T] under the policy being trained
  std::span<const float> old_log_probs;        // [T] denominator of the importance ratio
  std::span<const float> behavior_log_probs;   // [T] of the sampler; read only with tis_cap
  std::span<const float> reference_log_probs;  // [T] read only with kl_coefficient
  std::span<const float> entropies;            // [T] nats
  double advantage = 0;
  double weight = 0;                      // token_weight()
  std::span<const TokenTerm> terms = {};  // [T], or empty: no token rule applies
};

}  // namespace lie
