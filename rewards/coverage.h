// C_context, R_context and the largest repeat of one response.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "common/text/units.h"
#include "rewards/ngram_counter.h"

namespace lie {

/// What an n-gram is made of.
enum class CoverageUnit { kWords, kTokens };

/// Options of the state abstraction phi(s_t) = the last n units (arXiv:2602.11748).
struct CoverageOptions {
  CoverageUnit unit = CoverageUnit::kWords;
  std::int64_t ngram = 10;
};

void describe(FieldList& fields, CoverageOptions& options);

/// Further states to measure coverage in, whatever the reward counts: so that runs of different
/// rewards are compared by one figure.
struct MetricCoverageOptions {
  enum class Unit { kSame, kWords, kTokens };
  Unit unit = Unit::kSame;  // as CoverageOptions::unit
  std::vector<std::int64_t> ngrams;
};
void describe(FieldList& fields, MetricCoverageOptions& options);

/// The states of the further metrics, in their order. Throws Error if one stands there twice.
std::vector<CoverageOptions> metric_states(const CoverageOptions& reward,
                                           const MetricCoverageOptions& metric);

/// Whether any coverage is of words: then decoded texts are needed.
bool counts_words(const CoverageOptions& reward, const MetricCoverageOptions& metric);

/// Counts the n-grams of one response after the other, exactly. Keeps its storage; one thread.
class ResponseCoverage {
 public:
  explicit ResponseCoverage(const CoverageOptions& options);

  /// n-grams of the words of `text` or of its token `ids`, as options.unit says. A response of
  /// fewer than n units has none: C_context 0, R_context 1, largest repeat 0.
  Coverage count(std::string_view text, std::span<const std::int32_t> ids);

 private:
  CoverageUnit unit_;
  NgramCounter counter_;
  WordIds words_;
  std::vector<std::int32_t> units_;
};

}  // namespace lie
