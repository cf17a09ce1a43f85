// The inputs of the loss for one response.
#pragma once

#include <span>

namespace lie {

struct SequenceInput {
  std::span<const float> log_probs;            // [T] under the policy being trained
  std::span<const float> old_log_probs;        // [T] denominator of the importance ratio
  std::span<const float> behavior_log_probs;   // [T] of the sampler; read only with tis_cap
  std::span<const float> reference_log_probs;  // [T] read only with kl_coefficient
  std::span<const float> entropies;            // [T] nats
  double advantage = 0;
  double weight = 0;  // token_weight()
};

}  // namespace lie
