#include "rewards/term/coverage_bonus.h"

namespace lie {

void describe(FieldList& fields, CoverageBonusOptions& options) {
  fields.add("enabled", options.enabled,
             {.help = "Reward incorrect answers for distinct n-grams (an ablation that policies "
                      "exploit easily)."});
  fields.add("per_ngram", options.per_ngram,
             {.help = "Bonus of an incorrect answer for each distinct n-gram.",
              .unit = "reward per n-gram",
              .min = 0});
}

float coverage_bonus(const CoverageBonusOptions& options, bool correct,
                     std::int64_t distinct_ngrams) {
  if (correct) return 0.0F;
  return static_cast<float>(options.per_ngram * static_cast<double>(distinct_ngrams));
}

RewardTerm reward_term(const CoverageBonusOptions& options, std::int64_t) {
  return {.reward = [options](const VerifiedResponse& response) {
    return coverage_bonus(options, response.correct(), response.score.coverage.distinct_ngrams);
  }};
}

}  // namespace lie
