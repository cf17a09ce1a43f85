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

/// Sums over groups under one way of scoring.
struct ScoreTally {
  std::int64_t groups = 0, all_right = 0, all_wrong = 0;  // of training
  std::int64_t responses = 0, right = 0;
  std::vector<double> reward_sums;  // by term
  std::vector<double> mass;         // by term, as GroupAdvantages::mass
  std::int64_t evaluation_responses = 0, evaluation_right = 0;

  void add_training(std::span<const Score> scores, const GroupAdvantages& advantages);
  void add_evaluation(std::span<const Score> scores);
  void merge(const ScoreTally& other);
};

/// Neighbouring steps under both.
struct StepScores {
  std::int64_t first_step = 0, last_step = 0;
  ScoreTally logged = {}, now = {};
  std::int64_t turned = 0;  // training groups whose order of advantages turns

  void merge(const StepScores& next);
};

/// Whether two responses stand in one order before and in the other after. Both [G].
bool order_turns(std::span<const double> before, std::span<const double> after);

/// The reward terms of both sides.
struct BothRewards {
  RewardNames logged, now;
};

/// Quantities as rows, at most five ranges of steps as columns.
std::string score_table(std::span<const StepScores> steps, const BothRewards& rewards);
/// The quantities of both sides in their order, without those that are 0 everywhere.
std::vector<std::string> quantity_names(std::span<const StepScores> steps,
                                        const BothRewards& rewards);
/// [{"step", "groups", "responses", "turned_groups_share", "logged": {...}, "now": {...}}, ...]
Json score_json(std::span<const StepScores> steps, const BothRewards& rewards);

}  // namespace lie::replay
