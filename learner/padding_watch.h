// Whether a run teaches length in place of right answers, said while there is time to stop it.
#pragma once

#include <cstdint>
#include <string>

#include "common/metrics_log.h"

namespace lie {

/// Where few responses are right, the length reward is nearly the whole signal: responses grow to
/// the limit and none is right any more (docs/rewards.md, configs/gsm8k/README.md).
class PaddingWatch {
 public:
  /// Takes a step's metrics in order. What to say of them, once: after the eighth step with
  /// updates, if R_acc made less than a tenth of the absolute advantage of these steps (the mean of
  /// advantage_mass_accuracy) and R_len more than that. Else empty.
  std::string after(const MetricsRow& row);

 private:
  std::int64_t steps_ = 0;
  double accuracy_ = 0, length_ = 0;  // sums of their shares
};

}  // namespace lie
