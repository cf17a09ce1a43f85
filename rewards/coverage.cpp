#include "rewards/coverage.h"

namespace lie {

void describe(FieldList& fields, CoverageOptions& options) {
  fields.add("unit", options.unit,
             {{"words", CoverageUnit::kWords}, {"tokens", CoverageUnit::kTokens}},
             {.help = "What n-grams are made of: words of the decoded text, or token ids."});
  fields.add("ngram", options.ngram, {.help = "n: units of one state.", .min = 1, .max = 1024});
}

ResponseCoverage::ResponseCoverage(const CoverageOptions& options)
    : unit_(options.unit), counter_(options.ngram) {}

Coverage ResponseCoverage::count(std::string_view text, std::span<const std::int32_t> ids) {
  if (unit_ == CoverageUnit::kTokens) return counter_.count(ids);
  words_.clear();
  units_.clear();
  words_.append(text, units_);
  return counter_.count(units_);
}

}  // namespace lie
