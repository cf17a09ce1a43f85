// C_global: distinct n-grams over all training responses of a step, and of the run so far. The
// run's are part of a checkpoint, so that a resume needs no log.
//
//   coverage.bin, version 1, little-endian: 8 bytes "LIECOV01", then for each kind of states its n,
//   its unit (0 tokens, 1 words) and the run's n-grams with repeats, int64 each, and its distinct
//   ones as DistinctCount::write() has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/checkpoint/checkpoint_extra.h"
#include "learner/record/ngrams/distinct_count.h"
#include "learner/record/ngrams/ngram_keys.h"
#include "learner/record/step_metrics.h"

namespace lie {

inline constexpr const char* kCoverageFile = "coverage.bin";

struct GlobalCoverageOptions {
  std::int64_t memory_mebibytes = 1024;
};
void describe(FieldList& fields, GlobalCoverageOptions& options);

/// The states to count: n-grams of words (ScoredGroup::texts) or of token ids.
struct CoverageStates {
  std::int64_t ngram = 10;
  bool words = false;
  std::string suffix = {};  // of its metrics: "_10" for c_global_10_run
};

/// Counts the distinct states of a step and of the run, each in bounded memory: see DistinctCount.
class RunCoverage : public CheckpointExtra {
 public:
  RunCoverage(std::span<const CoverageStates> states, const GlobalCoverageOptions& options);

  /// Adds a step's groups; returns, for each kind of states, the counts of this step and of the run
  /// so far. A function of what was added, in whatever order.
  std::vector<GlobalCoverage> add_step(std::span<const ScoredGroup> groups);

  /// A copy of what save() writes: the n-grams of the run, none of its last step.
  RunCoverage of_run() const;
  std::unique_ptr<CheckpointExtra> copy() const override;

  /// Writes `checkpoint`/coverage.bin: 8 bytes a distinct n-gram, or 256 KiB where they are
  /// estimated. Throws Error naming the file.
  void save(const std::filesystem::path& checkpoint) const override;

  /// Goes on from what save() wrote; false if there is no such file. Throws Error if it is damaged
  /// or counts other states.
  bool restore(const std::filesystem::path& checkpoint);

 private:
  /// Of one n and unit.
  struct Counter {
    std::int64_t ngram;
    bool words;
    DistinctCount step, run;
    std::int64_t step_ngrams = 0, run_ngrams = 0;
  };

  std::size_t counter_of(const CoverageStates& states, std::int64_t budget_bytes);
  bool counts(bool words) const;
  void add(const Response& response, std::string_view text);
  void count(Counter& counter, std::span<const UnitHash> units);

  std::vector<Counter> counters_;
  std::vector<std::pair<std::string, std::size_t>> names_;  // suffix and counter
  std::vector<UnitHash> tokens_, words_;                    // of one response
  std::vector<StateKey> keys_;
};

}  // namespace lie
