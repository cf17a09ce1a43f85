// The work that a verdict may spend.
#pragma once

#include <algorithm>
#include <cstdint>

#include "verifier/rules/options.h"

namespace lie {

/// Counts the steps, nesting and bits of a pair, the same on every machine and thread. Once they
/// are spent, every part of the verifier stops at its next step.
class Budget {
 public:
  explicit Budget(const VerifierOptions& options)
      : steps_(options.max_steps),
        max_depth_(options.max_depth),
        max_bits_(options.max_bits),
        max_size_(std::min<std::int64_t>(options.max_steps, kLargestTree)) {}

  /// Spends `steps`. Returns false once they are used up.
  bool spend(std::int64_t steps = 1) {
    steps_ -= steps;
    spent_ += steps;
    return steps_ >= 0;
  }
  /// Exhausts the budget because something larger than it was needed. Returns false.
  bool exhaust() {
    steps_ = -1;
    return false;
  }
  /// Returns false and exhausts the budget if a number of `bits` bits is too large.
  bool allow_bits(std::int64_t bits) { return bits <= max_bits_ ? spend(bits / 256) : exhaust(); }
  /// Returns false and exhausts the budget if nesting is too deep.
  bool allow_depth(std::int64_t depth) { return depth <= max_depth_ || exhaust(); }
  /// Returns false and exhausts the budget if the tree of an expression has too many nodes. It
  /// may have as many as there are steps, so that a walk over one tree costs no more than the
  /// budget.
  bool allow_size(std::int64_t nodes) { return nodes <= max_size_ || exhaust(); }

  bool exhausted() const { return steps_ < 0; }
  std::int64_t spent() const { return spent_; }

 private:
  static constexpr std::int64_t kLargestTree = 1'000'000;

  std::int64_t steps_, spent_ = 0, max_depth_, max_bits_, max_size_;
};

}  // namespace lie
