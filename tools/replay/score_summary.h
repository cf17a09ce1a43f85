// A run's rewards and groups by step, as logged and as scored now.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "common/rollout/rollout.h"
#include "learner/update/advantage.h"

namespace lie::replay {

/// Returns the number of responses whose answer is correct.
std::int64_t count_correct(std::span<const Score> scores);

/// Sums over groups under one way of scoring.
struct ScoreTally {
  std::int64_t groups = 0, all_correct = 0, all_incorrect = 0;  // training groups
  std::int64_t responses = 0, correct = 0;                      // of training groups
  std::vector<double> reward_sums;                              // by term
  std::vector<double> mass;                                     // by term, as GroupAdvantages::mass
  std::int64_t evaluation_responses = 0, evaluation_correct = 0;

  void add_training(std::span<const Score> scores, const GroupAdvantages& advantages);
  void add_evaluation(std::span<const Score> scores);
  void merge(const ScoreTally& other);
};

/// Consecutive steps as logged and as scored now.
struct StepScores {
  std::int64_t first_step = 0, last_step = 0;
  ScoreTally logged = {}, now = {};
  std::int64_t reordered = 0;  // training groups whose order of advantages changes

  void merge(const StepScores& next);
};

/// Whether two responses have one order before and the opposite order after. Both spans are [G].
bool order_changes(std::span<const double> before, std::span<const double> after);

/// The reward terms of the log and of the new scores.
struct BothRewards {
  RewardNames logged, now;
};

/// Returns a table with quantities as rows and at most five ranges of steps as columns.
std::string score_table(std::span<const StepScores> steps, const BothRewards& rewards);
/// Returns the quantities of both sides in their order, without those that are 0 everywhere.
std::vector<std::string> quantity_names(std::span<const StepScores> steps,
                                        const BothRewards& rewards);
/// Returns [{"step", "groups", "responses", "turned_groups_share", "logged": {...}, "now": {...}},
/// ...].
Json score_json(std::span<const StepScores> steps, const BothRewards& rewards);

}  // namespace lie::replay
