// One policy as often as there are workers to compute with it at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"

namespace lie {

class WorkerPolicies {
 public:
  /// `policy`, which outlives this, for each of `workers`, its own operators' or they themselves:
  /// itself where there is one, else the same weights beside it. Together they hold
  /// `activation_bytes` of a pass at most; 0: what limit_training_bytes() says of 0.
  WorkerPolicies(const std::vector<Operators*>& workers, Transformer& policy,
                 std::int64_t activation_bytes)
      : policy_(policy) {
    policy.limit_training_bytes(activation_bytes);
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
