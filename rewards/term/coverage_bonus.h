// The ablation that rewards C_context directly. The paper shows how policies exploit it.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

/// Options of the direct C_context bonus (arXiv:2602.11748, ablation). Off in the recipe.
struct CoverageBonusOptions {
  static constexpr const char* kName = "coverage_bonus";
  static constexpr const char* kAbout = "direct bonus on C_context";
  bool enabled = false;
  double per_ngram = 0.3 / 9000;
};

void describe(FieldList& fields, CoverageBonusOptions& options);

inline std::int64_t least_units(const CoverageBonusOptions&, std::int64_t ngram) { return ngram; }
RewardTerm reward_term(const CoverageBonusOptions& options, std::int64_t max_response_tokens);

/// Returns per_ngram * C_context for an incorrect answer, 0 for a correct one.
float coverage_bonus(const CoverageBonusOptions& options, bool correct,
                     std::int64_t distinct_ngrams);

}  // namespace lie
