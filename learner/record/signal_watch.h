// Detects early that a run learns mainly from another reward term than the correctness of answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/io/metrics_log.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Watches the shares of the reward terms in the advantages. If few responses are correct, a term
/// that every response can earn dominates the signal (docs/how-to/choose-reward-settings.md,
/// configs/gsm8k/README.md).
class SignalWatch {
 public:
  /// The first of `rewards` is the term for correct answers. `cautions` are the warnings for the
  /// first terms of `rewards`, by index; an empty text is no warning.
  SignalWatch(RewardNames rewards, std::vector<std::string> cautions);

  /// Receives the metrics of the steps in order. Returns warnings after the eighth step with
  /// advantages, otherwise nothing. The condition is that the mean share of the first term
  /// (advantage_mass) over these steps is below a tenth. Each other term with a caution and a
  /// larger share then gives one warning.
  std::vector<std::string> after(const MetricsRow& row);

 private:
  std::string warning_for(std::size_t term, std::int64_t step) const;

  RewardNames rewards_;
  std::vector<std::string> cautions_;
  std::vector<double> shares_;  // [terms] advantage_mass, summed over steps
  std::int64_t steps_ = 0;      // with advantages
};

}  // namespace lie
