// Rows of logits that outlive the forward pass that computed them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/operators/operators.h"

namespace lie {

/// Rows [V] fp32 in the operators' memory, which grows to the largest number kept at once.
class LogitStore {
 public:
  /// Keeps a reference to the operators.
  LogitStore(Operators& operators, std::int64_t vocabulary);

  /// Copies `logits` [1, V]; returns which row of all() it is until it is given back.
  std::int64_t keep(Tensor logits);
  void give_back(std::int64_t row) { free_.push_back(row); }
  const Tensor& all() const { return memory_.view(); }

 private:
  void grow();

  Operators& operators_;
  const std::int64_t vocabulary_;
  Buffer memory_;
  std::vector<std::int64_t> free_;
};

}  // namespace lie
