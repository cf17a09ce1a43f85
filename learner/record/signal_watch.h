// Whether a run teaches another term of the reward in place of right answers, said while there is
// time to stop it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/io/metrics_log.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Where few responses are right, a term that is paid for any response is nearly the whole signal
/// (docs/rewards.md, configs/gsm8k/README.md).
class SignalWatch {
 public:
  /// `rewards`: the first is the term of right answers. `cautions`: what to say of the first ones
  /// of them; empty: nothing.
  SignalWatch(RewardNames rewards, std::vector<std::string> cautions);

  /// Takes a step's metrics in order. What to say of them, once: after the eighth step with
  /// advantages, if the first term made less than a tenth of them in these steps (the mean of its
  /// advantage_mass), of each term with a caution that made more.
  std::vector<std::string> after(const MetricsRow& row);

 private:
  std::string said_of(std::size_t term, std::int64_t step) const;

  RewardNames rewards_;
  std::vector<std::string> cautions_;
  std::vector<double> shares_;  // of the advantage, sums over steps
  std::int64_t steps_ = 0;
};

}  // namespace lie
