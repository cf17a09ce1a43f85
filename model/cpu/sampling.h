// Draws a token from one row of logits on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/operators/sampling.h"

namespace lie::cpu {

struct Sample {
  std::int32_t id = 0;
  float log_prob = 0;  // of logits / temperature over the whole vocabulary
};

/// Draws tokens, with scratch memory for one row. The bits of a draw depend on the row and `how`
/// alone.
class RowSampler {
 public:
  /// `logits` [V]. If their log-sum-exp is not finite, the log-prob is NaN.
  Sample draw(std::span<const float> logits, const Draw& how);

 private:
  std::int32_t draw_from_all(float uniform);
  std::int32_t draw_from_likeliest(const Draw& how, float uniform);
  double fill_likeliest(const Draw& how);
  void collect(double floor);  // into heap_, unordered
  double probability(std::int32_t id) const {
    return static_cast<double>(probabilities_[static_cast<std::size_t>(id)]);
  }

  std::vector<float> probabilities_;     // [V]
  std::vector<double> block_sums_;       // of 64 probabilities_ each
  std::vector<std::int32_t> heap_;       // ids that remain, the likeliest on top
  std::vector<std::int32_t> likeliest_;  // ids removed from heap_, likeliest first
};

}  // namespace lie::cpu
