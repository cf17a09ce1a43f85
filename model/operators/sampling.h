// Arguments and results of Operators::sample, which draws tokens from rows of logits.
#pragma once

#include <cstdint>

#include "common/base/random.h"
#include "model/operators/tensor.h"

namespace lie {

/// One token to draw, by the inverse of the cumulative distribution of softmax(logits /
/// temperature) at random_uniform(key).
struct Draw {
  std::int64_t row = 0;   // of the logits; several draws may use one row
  float temperature = 1;  // 0: greedy, the likeliest token with the lowest id among equals
  /// Draws from the fewest likeliest tokens that hold this share of the probability top_k keeps.
  double top_p = 1;
  /// Draws from this many likeliest tokens, lower ids first among equals. 0 means all tokens.
  std::int64_t top_k = 0;
  RandomKey key = {};

  constexpr bool greedy() const { return temperature == 0; }
  constexpr bool from_all() const { return top_p >= 1 && top_k == 0; }
  /// Returns the temperature that divides the logits for the log-prob.
  constexpr float log_prob_temperature() const { return greedy() ? 1.0F : temperature; }
};

/// Drawn tokens in the memory of one Operators. Owns nothing.
struct DrawnTokens {
  Tensor ids;        // [1, R] int32
  Tensor log_probs;  // [1, R] fp32

  /// Returns the tokens [first, first + count).
  DrawnTokens from(std::int64_t first, std::int64_t count) const {
    return {ids.cols_at(first, count), log_probs.cols_at(first, count)};
  }
};

}  // namespace lie
