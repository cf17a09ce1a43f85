// Operators that have more than one library for the attention of training.
#pragma once

#include <string>

#include "model/operators/operators.h"

namespace lie {

class ChoosesAttention {
 public:
  virtual ~ChoosesAttention() = default;
  /// Returns a sentence that names the library that computes attention() and attention_backward()
  /// for such heads, and the reason. The first call checks the library, which takes seconds. Empty
  /// if there is no choice.
  virtual std::string attention_in_use(const AttentionShape& shape) = 0;
};

/// Returns attention_in_use(), or an empty string for operators without a choice.
inline std::string attention_in_use(Operators& operators, const AttentionShape& shape) {
  auto* const chooses = dynamic_cast<ChoosesAttention*>(&operators);
  return chooses == nullptr ? std::string() : chooses->attention_in_use(shape);
}

}  // namespace lie
