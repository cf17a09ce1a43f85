// Warnings from the metrics of a run: that it cannot learn, since the rewards or the weights do not
// change from step to step, that it learns mainly from another reward term than the correctness of
// answers, or that longer responses do not pay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/io/metrics_log.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Watches the metrics of the steps for conditions under which training is in vain, and warns once
/// for each with its likely cause and the key to change.
class LearningWatch {
 public:
  /// Receives the metrics of the steps in order. Returns the warnings of this step: after the first
  /// skipped update, and after five steps in a row in which most responses are cut, all groups are
  /// without advantages, or the gradient is 0. Throws Error if all updates of three steps in a row
  /// were skipped, because their gradients were not finite.
  std::vector<std::string> after(const MetricsRow& row);

 private:
  /// Consecutive steps with a condition.
  struct Streak {
    std::int64_t steps = 0;
    /// Returns whether the condition has just held for `wanted` steps, the first time in this run.
    bool reaches(std::int64_t wanted, bool holds);
    bool reached = false;
  };

  void watch_updates(const MetricsRow& row, std::vector<std::string>& warnings);

  bool has_skipped_ = false;
  Streak skipped_, cut_, without_signal_, without_gradient_;
};

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

/// Watches whether longer responses are worth their tokens.
class LengthWatch {
 public:
  /// Receives the metrics of the steps in order. Returns a warning at most once, after the 25th
  /// step or later: if responses of the last five steps are a fifth longer
  /// than those of the first five, accuracy has risen by less than 0.02 between them, and the mean
  /// slope of correctness on length over the last 20 steps is not above 0 by two standard errors.
  std::vector<std::string> after(const MetricsRow& row);

 private:
  struct Step {
    double length = 0, accuracy = 0, slope = 0, error = 0;
  };
  std::vector<Step> steps_;
  bool has_warned_ = false;
};

}  // namespace lie
