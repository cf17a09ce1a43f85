// One policy for several workers that compute with it at the same time.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "model/operators/operators.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"

namespace lie {

/// The Transformer of each worker. All of them have the weights of one policy.
class WorkerPolicies {
 public:
  /// Uses `policy` itself for a single worker. For several workers it makes one Transformer each,
  /// which shares the weights of `policy`. `workers` are the policy's operators or workers of them.
  /// `policy` must outlive this object. Together the workers hold at most `activation_bytes` of
  /// activations; 0 is the default of Transformer::limit_training_bytes().
  WorkerPolicies(const std::vector<Operators*>& workers, Transformer& policy,
                 std::int64_t activation_bytes)
      : policy_(policy) {
    policy.limit_training_bytes(activation_bytes);
    if (workers.size() == 1) return;
    const std::int64_t bytes = activation_bytes > 0 ? activation_bytes : kTrainingBytes;
    for (Operators* worker : workers) {
      copies_.push_back(policy.with_shared_weights(*worker));
      copies_.back().limit_training_bytes(bytes / std::ssize(workers));
    }
  }

  Transformer& of(std::int64_t worker) {
    return copies_.empty() ? policy_ : copies_[static_cast<std::size_t>(worker)];
  }

 private:
  Transformer& policy_;
  std::vector<Transformer> copies_;  // one per worker, without weights of their own; empty for one
};

}  // namespace lie
