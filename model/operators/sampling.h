// Drawing tokens from rows of logits: arguments and result of Operators::sample.
#pragma once

#include <cstdint>

#include "common/base/random.h"
#include "model/operators/tensor.h"

namespace lie {

/// One token to draw, by the inverse of the cumulative distribution of softmax(logits /
/// temperature) at random_uniform(key).
struct Draw {
  std::int64_t row = 0;   // of the logits; several draws may name one
  float temperature = 1;  // 0: the likeliest token, the first of equals
  double top_p = 1;  // of the fewest likeliest tokens that hold this share of what top_k leaves
  std::int64_t top_k = 0;  // of so many likeliest tokens, lower ids first among equals; 0: of all
  RandomKey key = {};

  constexpr bool greedy() const { return temperature == 0; }
  constexpr bool from_all() const { return top_p >= 1 && top_k == 0; }
  /// The divisor of the logits for its log-prob.
  float log_prob_temperature() const { return greedy() ? 1.0F : temperature; }
};

/// Drawn tokens in the memory of one Operators. Owns nothing.
struct DrawnTokens {
  Tensor ids;        // [1, R] int32
  Tensor log_probs;  // [1, R] fp32

  /// `count` of them from `first` on.
  DrawnTokens from(std::int64_t first, std::int64_t count) const {
    return {ids.cols_at(first, count), log_probs.cols_at(first, count)};
  }
};

}  // namespace lie
