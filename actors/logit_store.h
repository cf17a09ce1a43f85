// Rows of logits that outlive the forward pass that computed them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/operators/operators.h"

namespace lie {

/// Keeps rows of logits, [V] fp32 each. The operators' memory for them grows to the most rows kept
/// at once.
class LogitStore {
 public:
  /// Keeps a reference to the operators.
  LogitStore(Operators& operators, std::int64_t vocabulary);

  /// Copies `logits` [1, V] and returns its row in all(), which is valid until release().
  std::int64_t keep(Tensor logits);
  void release(std::int64_t row) { free_.push_back(row); }
  const Tensor& all() const { return memory_.view(); }

 private:
  void grow();

  Operators& operators_;
  const std::int64_t vocabulary_;
  Buffer memory_;
  std::vector<std::int64_t> free_;
};

}  // namespace lie
