#include "rewards/coverage_bonus.h"

namespace lie {

void describe(FieldList& fields, CoverageBonusOptions& options) {
  fields.add("enabled", options.enabled,
             {.help = "Reward wrong answers for distinct n-grams (an ablation, easily hacked)."});
  fields.add("per_ngram", options.per_ngram,
             {.help = "Bonus of a wrong answer for each distinct n-gram.",
              .unit = "reward per n-gram",
              .min = 0});
}

float coverage_bonus(const CoverageBonusOptions& options, bool correct,
                     std::int64_t distinct_ngrams) {
  if (correct) return 0.0F;
  return static_cast<float>(options.per_ngram * static_cast<double>(distinct_ngrams));
}

}  // namespace lie
