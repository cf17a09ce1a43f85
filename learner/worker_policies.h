// One policy as often as there are workers to compute with it at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/training_memory.h"
#include "model/transformer.h"
#include "model/weights.h"

namespace lie {

/// Of a training pass: `most`, or fewer if that is faster. Changes no bit (invariant E4).
inline std::int64_t pass_tokens(const Weights& weights, std::int64_t most) {
  const std::int64_t elements = flat_elements(weights.parameters());
  return std::min(most, weights.operators().most_pass_tokens(elements));
}

class WorkerPolicies {
 public:
  /// `policy`, which outlives this, for each of operators.workers(weights): itself where there is
  /// one, else the same weights beside it. Together they hold `activation_bytes` of a pass at most;
  /// 0: what limit_training_bytes() says of 0.
  WorkerPolicies(Operators& operators, std::int64_t weights, Transformer& policy,
                 std::int64_t activation_bytes)
      : policy_(policy) {
    policy.limit_training_bytes(activation_bytes);
    const std::vector<Operators*> workers = operators.workers(weights);
    if (workers.size() == 1) return;
    const std::int64_t bytes = activation_bytes > 0 ? activation_bytes : kTrainingBytes;
    for (Operators* worker : workers) {
      beside_.push_back(policy.beside(*worker));
      beside_.back().limit_training_bytes(bytes / std::ssize(workers));
    }
  }

  Transformer& of(std::int64_t worker) {
    return beside_.empty() ? policy_ : beside_[static_cast<std::size_t>(worker)];
  }

 private:
  Transformer& policy_;
  std::vector<Transformer> beside_;
};

}  // namespace lie
