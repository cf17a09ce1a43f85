// C_global: the number of distinct n-grams over all training responses of a step, and of the run so
// far. Checkpoints contain the n-grams of the run, so that a resume does not read the log.
//
//   coverage.bin, version 1, little-endian: the 8 bytes "LIECOV01", then for each kind of n-gram
//     int64 n, int64 unit (0 tokens, 1 words), int64 n-grams of the run with repeats,
//     the distinct n-grams as DistinctCount::write() writes them.
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
#include "common/text/units.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/record/distinct/distinct_count.h"
#include "learner/record/step_metrics.h"

namespace lie {

inline constexpr const char* kCoverageFile = "coverage.bin";

/// Options of the global coverage.
struct GlobalCoverageOptions {
  std::int64_t memory_mebibytes =
      1024;  // MiB per kind of n-gram, 1 to 2^20; up to three times that is used
};
void describe(FieldList& fields, GlobalCoverageOptions& options);

/// A kind of n-gram to count: n-grams of words (ScoredGroup::texts) or of token ids.
struct CoverageStates {
  std::int64_t ngram = 10;
  bool words = false;
  std::string suffix = {};  // of the metric names: "_10" for c_global_10_run
};

/// Counts the distinct n-grams of a step and of the run, each in bounded memory (DistinctCount).
class RunCoverage : public CheckpointExtra {
 public:
  RunCoverage(std::span<const CoverageStates> states, const GlobalCoverageOptions& options);

  /// Adds a step's groups. Returns, for each kind of n-gram, the counts of this step and of the run
  /// so far. They do not depend on the order in which responses are added.
  std::vector<GlobalCoverage> add_step(std::span<const ScoredGroup> groups);

  /// Returns the n-grams of the run, without those of the last step.
  std::unique_ptr<CheckpointExtra> copy() const override;

  /// Writes `checkpoint`/coverage.bin: 8 bytes per distinct n-gram, or 256 KiB if their number is
  /// estimated. Throws Error naming the file.
  void save(const std::filesystem::path& checkpoint) const override;

  /// Restores the state that save() wrote. Returns false if the file does not exist. Throws Error
  /// if it is damaged or counts other kinds of n-grams.
  bool restore(const std::filesystem::path& checkpoint);

 private:
  /// The counts for one n and unit.
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
  std::vector<std::pair<std::string, std::size_t>> names_;  // suffix, index in counters_
  std::vector<UnitHash> tokens_, words_;                    // of the current response
  std::vector<StateKey> keys_;
};

}  // namespace lie
