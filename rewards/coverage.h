// C_context, R_context and the largest repeat of one response.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "common/text/units.h"

namespace lie {

/// The units of n-grams.
enum class CoverageUnit { kWords, kTokens };

/// Options of the state abstraction phi(s_t) = the last n units (arXiv:2602.11748).
struct CoverageOptions {
  CoverageUnit unit = CoverageUnit::kWords;
  std::int64_t ngram = 10;
};

void describe(FieldList& fields, CoverageOptions& options);

/// Additional n-grams for coverage metrics, independent of the reward. They make runs with
/// different rewards comparable.
struct MetricCoverageOptions {
  enum class Unit { kSame, kWords, kTokens };
  Unit unit = Unit::kSame;  // kSame: CoverageOptions::unit
  std::vector<std::int64_t> ngrams;
};
void describe(FieldList& fields, MetricCoverageOptions& options);

/// Returns the options of the additional metrics, in order. Throws Error if an n is listed twice.
std::vector<CoverageOptions> metric_states(const CoverageOptions& reward,
                                           const MetricCoverageOptions& metric);

/// Returns whether any coverage is counted in words, which needs the decoded texts.
bool counts_words(const CoverageOptions& reward, const MetricCoverageOptions& metric);

/// Counts the n-grams of one response at a time. N-grams are equal if their keys are
/// (common/text/units.h). Reuses its storage. Not thread-safe.
class ResponseCoverage {
 public:
  explicit ResponseCoverage(const CoverageOptions& options) : options_(options) {}

  /// Counts the n-grams of the words of `text` or of its token `ids`, depending on options.unit. A
  /// response of fewer than n units has no n-grams: C_context 0, R_context 1, largest repeat 0.
  Coverage count(std::string_view text, std::span<const std::int32_t> ids);

 private:
  CoverageOptions options_;
  std::vector<UnitHash> units_;
  std::vector<StateKey> keys_;
  struct Slot {
    StateKey key;
    std::int32_t count = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace lie
