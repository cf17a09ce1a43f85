// C_context, R_context and the largest repeat of one response.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/options.h"
#include "common/rollout.h"

namespace lie {

/// What an n-gram is made of.
enum class CoverageUnit { kWords, kTokens };

/// Options of the state abstraction phi(s_t) = the last n units (arXiv:2602.11748).
struct CoverageOptions {
  CoverageUnit unit = CoverageUnit::kWords;
  std::int64_t ngram = 10;
};

void describe(FieldList& fields, CoverageOptions& options);

/// n-gram counts of one response: over the words of `text` (white space and '_' separate,
/// common/units.h) or over its token `ids`, as options.unit says. Exact: no hash collision changes
/// a count. A response of fewer than n units has no n-gram: C_context 0, R_context 1, largest
/// repeat 0.
Coverage response_coverage(const CoverageOptions& options, std::string_view text,
                           std::span<const std::int32_t> ids);

}  // namespace lie
