// C_global: distinct n-grams over all training responses of a step, and of the run so far.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/ngram_set.h"
#include "common/rollout.h"
#include "common/units.h"
#include "learner/step_metrics.h"

namespace lie {

/// Exact counts; keeps the units of the whole run in memory, 4 bytes each and 16 to 32 a distinct
/// n-gram.
class RunCoverage {
 public:
  /// n-grams of `ngram` units: the words of ScoredGroup::texts if `words`, else token ids.
  RunCoverage(std::int64_t ngram, bool words);
  /// Adds a step's groups; returns the counts of this step and of the run so far.
  GlobalCoverage add_step(std::span<const ScoredGroup> groups);
  /// Adds one response of an earlier step, for a resumed run.
  void restore(std::span<const std::int32_t> ids, std::string_view text);

 private:
  std::span<const std::int32_t> units_of(std::span<const std::int32_t> ids, std::string_view text);

  bool words_;
  WordIds word_ids_;
  NgramSet run_, step_;
  std::vector<std::int32_t> units_;
};

}  // namespace lie
