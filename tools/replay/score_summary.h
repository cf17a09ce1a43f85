// A run's scores as logged and as scored now: the values that differ, and the metrics of each step
// that depend on scores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/record/metrics.h"
#include "learner/step.h"

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

/// Compares a group that was scored again with its logged scores. `logged` [G] are the learner's
/// results and `advantages` [G] those of the new scores, both empty if the group was not trained
/// on. `terms` are the reward terms of both scores.
ScoreDifferences differences(const ScoredGroup& group, std::span<const Score> logged_scores,
                             std::span<const LearnerResult> logged,
                             std::span<const double> advantages, const RewardNames& terms);

/// A step as logged and as scored now.
struct StepScores {
  std::int64_t step = 0;
  std::int64_t groups = 0, responses = 0;  // of training
  std::int64_t evaluation_responses = 0;
  std::int64_t turned_groups = 0;  // training groups whose order of advantages changes
  Metrics logged = {}, now = {};
};

/// Returns the metrics of a step, as in metrics.jsonl, that depend on scores: accuracies, rewards,
/// coverage of single responses, and shares of groups and of the advantages.
Metrics score_metrics(const StepOutcome& step, const RewardNames& rewards);

/// Returns whether two responses have one order before and the opposite order after. Spans are [G].
bool order_changes(std::span<const double> before, std::span<const double> after);

/// Returns a table with metrics as rows and at most five ranges of steps as columns. A cell is the
/// mean over the steps of the range that have the metric.
std::string score_table(std::span<const StepScores> steps);
/// Returns the names of the metrics of both sides in their order, without those that are 0
/// everywhere.
std::vector<std::string> quantity_names(std::span<const StepScores> steps);
/// Returns [{"step", "groups", "responses", "evaluation_responses", "turned_groups_share",
/// "logged": {...}, "now": {...}}, ...]. The share is null in a step without training groups.
Json score_json(std::span<const StepScores> steps);

}  // namespace lie::replay
