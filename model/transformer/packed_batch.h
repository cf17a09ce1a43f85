// Sequences laid end to end without padding: the input of the learner's forward and backward.
#pragma once

#include <cstdint>
#include <vector>

namespace lie {

/// S sequences of T tokens in all. Row t of the forward pass predicts tokens[t + 1]; `rows` are
/// those whose prediction is scored (the ones before a response token).
struct PackedBatch {
  std::vector<std::int32_t> tokens;   // [T]
  std::vector<std::int32_t> starts;   // [S + 1], starts[0] = 0, starts[S] = T
  std::vector<std::int32_t> rows;     // [R], ascending
  std::vector<std::int32_t> targets;  // [R], token ids
};

/// Of each scored row.
struct RowLogProbs {
  std::vector<float> log_probs;  // [R], of logits / temperature at the target
  std::vector<float> entropies;  // [R], nats, of the whole distribution
};

}  // namespace lie
