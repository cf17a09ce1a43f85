// The metrics of a training step: the flat, ordered list behind metrics.jsonl, TensorBoard and the
// progress line. Quantities that do not exist in a step are omitted.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/record/metrics.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"

namespace lie {

/// The numbers of distinct n-grams and of all n-grams, over the responses of a step and of the run.
struct GlobalCoverage {
  std::int64_t step_distinct = 0, step_ngrams = 0;
  std::int64_t run_distinct = 0, run_ngrams = 0;  // over all steps so far
  double step_error = 0, run_error = 0;           // relative standard errors; 0: exact
  std::string suffix = {};  // "_10" for c_global_10_run; empty for the reward's n
};

/// The inputs of a step's metrics besides its outcome.
struct StepContext {
  RewardNames rewards;                        // the reward terms of the scores
  std::vector<GlobalCoverage> coverage = {};  // the reward's n and unit first
  /// Busy and idle seconds of this step per role, summed over ranks: {"actor", ...}.
  std::vector<std::pair<std::string, RoleClock>> roles = {};
  std::int64_t settings_changes = 0;      // of the run before this step
  SignalOf signal = SignalOf::kAccuracy;  // by which dynamic sampling selected the groups
};

/// Returns all metrics of a step; of step 0, which only evaluates, those of the evaluation. Throws
/// Error if groups and advantages differ in number, or if a score has another number of reward
/// terms than `context.rewards`.
Metrics step_metrics(const StepOutcome& step, const StepContext& context);

/// Returns the names of the numbers that reward and verifier programs gave for the responses.
std::set<std::string> number_names(std::span<const ScoredGroup> groups);

/// Returns Pearson's correlation; NaN if x or y is constant, or if there are fewer than two pairs.
double correlation(std::span<const double> x, std::span<const double> y);

/// Returns the quantile q in [0, 1] of `sorted`, which is ascending and not empty, by linear
/// interpolation between order statistics, as numpy.quantile.
double quantile(std::span<const double> sorted, double q);

}  // namespace lie
