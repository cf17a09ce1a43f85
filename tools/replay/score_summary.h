// A run's scores as logged and as scored now: the values that differ, and rewards and groups by
// step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/update/advantage.h"

namespace lie::replay {

/// Counts of values that are not bit-identical: verdict, extracted answer, reward terms, coverage,
/// target length, further numbers, advantage. Seconds of a verdict are not compared.
struct ScoreDifferences {
  std::int64_t compared = 0;   // responses
  std::int64_t responses = 0;  // responses with a value that differs
  std::int64_t values = 0;
  std::string first = {};  // "step 3, training group 4, response 2: verdict: logged ..."; or empty

  void merge(const ScoreDifferences& next);
};

/// Compares one group. `advantages` [G] are of `scores`, and empty if the group was not trained on.
/// `terms` are the reward terms of both scores.
ScoreDifferences differences(const GroupRecord& logged, std::span<const Score> scores,
                             std::span<const double> advantages, const RewardNames& terms);

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
