// C_context, R_context and the largest repeat of one response.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/ngram_set.h"
#include "common/options.h"
#include "common/rollout.h"
#include "common/units.h"

namespace lie {

/// What an n-gram is made of.
enum class CoverageUnit { kWords, kTokens };

/// Options of the state abstraction phi(s_t) = the last n units (arXiv:2602.11748).
struct CoverageOptions {
  CoverageUnit unit = CoverageUnit::kWords;
  std::int64_t ngram = 10;
};

void describe(FieldList& fields, CoverageOptions& options);

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
