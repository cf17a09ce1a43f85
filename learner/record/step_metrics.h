// A training step in numbers: the flat, ordered list behind metrics.jsonl, TensorBoard and the
// progress line. Names are the field's; a quantity that does not exist in a step is left out.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/record/metrics.h"
#include "learner/update/advantage.h"
#include "learner/update/update.h"

namespace lie {

/// Distinct n-grams over all trajectories, and the number of all n-grams.
struct GlobalCoverage {
  std::int64_t step_distinct = 0, step_ngrams = 0;
  std::int64_t run_distinct = 0, run_ngrams = 0;  // of all steps so far
  double step_error = 0, run_error = 0;           // relative standard errors; 0: exact
  std::string suffix = {};                        // "_10" for c_global_10_run; the reward's: none
};

/// Everything a step's metrics are made of.
struct StepFacts {
  std::int64_t step = 0;
  RewardNames rewards;                        // of the scores
  std::span<const ScoredGroup> groups;        // trained on; may be empty
  std::span<const ScoredGroup> dropped = {};  // as in StepGroups
  std::int64_t wanted_groups = 0;             // as in StepGroups
  std::span<const GroupAdvantages> advantages;
  const StepUpdate* update = nullptr;       // null in step 0, which only evaluates
  std::vector<GlobalCoverage> coverage;     // the reward's n and unit, then further ones
  std::span<const ScoredGroup> evaluation;  // empty in steps that do not evaluate
  std::vector<std::pair<std::string, double>> phase_seconds;  // {"step", 2.5}: "step_seconds"
  /// Busy and idle seconds of this step by role, summed over ranks: {"actor", ...}
  std::vector<std::pair<std::string, RoleClock>> roles;
};

Metrics step_metrics(const StepFacts& record);

/// Names of the further numbers that programs gave for the groups' responses, ascending.
std::set<std::string> number_names(std::span<const ScoredGroup> groups);

/// Value at quantile q in [0, 1] by linear interpolation between order statistics (as numpy).
/// `sorted` ascending, not empty.
double quantile(std::span<const double> sorted, double q);

}  // namespace lie
