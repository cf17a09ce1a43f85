// From a row of logits to a token: temperature, top-k, top-p, and the counter-based random number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/options.h"

namespace lie {

/// How tokens are drawn. The paper trains at temperature 1 and top_p 1 and evaluates at 0.6 and 1.
struct SamplingOptions {
  double temperature = 1.0;  // 0: greedy
  double top_p = 1.0;
  std::int64_t top_k = 0;  // 0: all
  std::int64_t max_response_tokens = 8192;
};

void describe(FieldList& fields, SamplingOptions& options);

/// A drawn token.
struct SampledToken {
  std::int32_t id = 0;
  float log_prob = 0;  // of logits / temperature over the whole vocabulary (greedy: temperature 1)
};

/// Draws tokens by the inverse of the cumulative distribution; holds scratch space for one row. A
/// draw depends on the row, the options and `uniform` alone, and its log-prob has the bits that
/// Transformer::forward gives the learner.
class Sampler {
 public:
  /// `logits` [V]; `uniform` in [0, 1). Where a logit is not a number, so is the log-prob.
  SampledToken draw(std::span<const float> logits, const SamplingOptions& options, float uniform);

 private:
  std::int32_t draw_from_all(float uniform);
  std::int32_t draw_from_likeliest(const SamplingOptions& options, float uniform);
  double take_likeliest(const SamplingOptions& options);
  double probability(std::int32_t id) const {
    return static_cast<double>(probabilities_[static_cast<std::size_t>(id)]);
  }

  std::vector<float> probabilities_;     // [V]
  std::vector<double> block_sums_;       // of probabilities_, 64 each
  std::vector<std::int32_t> heap_;       // ids not yet taken, the likeliest on top
  std::vector<std::int32_t> likeliest_;  // ids taken, likeliest first
};

}  // namespace lie
