// The input of the learner's forward and backward passes: sequences end to end, without padding.
#pragma once

#include <cstdint>
#include <vector>

namespace lie {

/// S sequences with T tokens in total. Row t of the forward pass predicts tokens[t + 1]. `rows` are
/// the scored rows: those that predict a response token.
struct PackedBatch {
  std::vector<std::int32_t> tokens;   // [T]
  std::vector<std::int32_t> starts;   // [S + 1], starts[0] = 0, starts[S] = T
  std::vector<std::int32_t> rows;     // [R], ascending
  std::vector<std::int32_t> targets;  // [R], token ids
};

/// The results of the scored rows. The distribution of a row is softmax(logits / temperature).
struct RowLogProbs {
  std::vector<float> log_probs;  // [R], of the target
  std::vector<float> entropies;  // [R], nats
};

}  // namespace lie
