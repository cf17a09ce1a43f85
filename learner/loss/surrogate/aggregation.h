// Aggregation: how the token losses of a mini-batch become one loss.
#pragma once

#include <cstdint>

namespace lie {

/// The names of the weights that token_weight() returns.
enum class Aggregation : std::uint8_t { kSequenceMean, kTokenMean, kConstant };

/// Returns the value of policy_loss.aggregation that chooses it.
const char* name_of(Aggregation aggregation);

/// Counts over a complete mini-batch on all learners. With them the loss does not depend on how the
/// mini-batch is divided. Masked responses are not counted.
struct Denominators {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;  // response tokens
};

/// Returns the weight of each token loss of a sequence with T_i = `tokens` response tokens. It is
/// 1/(S T_i) for the sequence mean, 1/(sum T) for the token mean, and 1/(S divisor) for the
/// constant divisor.
double token_weight(Aggregation aggregation, double constant_divisor, const Denominators& whole,
                    std::int64_t tokens);

}  // namespace lie
