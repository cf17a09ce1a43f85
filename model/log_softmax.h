// Log-probs of one row of logits, with the bits that Operators::log_probs gives the same row: the
// sampler's behavior log-prob and the learner's are then one number (invariant E5).
#pragma once

#include <cstdint>
#include <span>

namespace lie {

/// logsumexp of z = logits * (1 / temperature), fp32, in the fixed order of the CPU operators.
float log_sum_exp(std::span<const float> logits, float temperature);

/// log softmax(logits / temperature)[token], given log_sum_exp() of the same row.
inline float log_prob(std::span<const float> logits, float temperature, std::int32_t token,
                      float log_sum) {
  return logits[static_cast<std::size_t>(token)] * (1.0f / temperature) - log_sum;
}

/// probabilities[v] = exp(logits[v] / temperature - log_sum). `probabilities` may be `logits`' own
/// memory.
void softmax(std::span<const float> logits, float temperature, float log_sum,
             std::span<float> probabilities);

}  // namespace lie
