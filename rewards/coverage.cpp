#include "rewards/coverage.h"

#include <algorithm>
#include <bit>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, CoverageOptions& options) {
  fields.add("unit", options.unit,
             {{"words", CoverageUnit::kWords}, {"tokens", CoverageUnit::kTokens}},
             {.help = "Units of n-grams: words of the decoded text, or token ids."});
  fields.add("ngram", options.ngram,
             {.help = "n: number of units per n-gram.", .min = 1, .max = 1024});
}

void describe(FieldList& fields, MetricCoverageOptions& options) {
  using Unit = MetricCoverageOptions::Unit;
  fields.add("metric_ngrams", options.ngrams,
             {.help = "Additional values of n for which coverage is measured and logged "
                      "(c_context_10_mean, r_context_10_mean, c_global_10_run). They do not change "
                      "the reward.",
              .min = 1,
              .max = 1024});
  fields.add("metric_unit", options.unit,
             {{"same", Unit::kSame}, {"words", Unit::kWords}, {"tokens", Unit::kTokens}},
             {.help = "Units of the n-grams of metric_ngrams; same: the reward's unit."});
}

std::vector<CoverageOptions> metric_states(const CoverageOptions& reward,
                                           const MetricCoverageOptions& metric) {
  using Unit = MetricCoverageOptions::Unit;
  const CoverageUnit unit = metric.unit == Unit::kSame    ? reward.unit
                            : metric.unit == Unit::kWords ? CoverageUnit::kWords
                                                          : CoverageUnit::kTokens;
  std::vector<CoverageOptions> states;
  for (const std::int64_t n : metric.ngrams) {
    if (std::ranges::find(states, n, &CoverageOptions::ngram) != states.end()) {
      fail("coverage.metric_ngrams: {} is listed twice; list each n once", n);
    }
    states.push_back({unit, n});
  }
  return states;
}

bool counts_words(const CoverageOptions& reward, const MetricCoverageOptions& metric) {
  const auto states = metric_states(reward, metric);
  return reward.unit == CoverageUnit::kWords ||
         (!states.empty() && states.front().unit == CoverageUnit::kWords);
}

Coverage ResponseCoverage::count(std::string_view text, std::span<const std::int32_t> ids) {
  units_.clear();
  options_.unit == CoverageUnit::kTokens ? append_unit_hashes(ids, units_)
                                         : append_unit_hashes(text, units_);
  ngram_keys(units_, options_.ngram, keys_);
  // An open-addressed table, at most half full. An empty slot has a count of 0.
  const std::size_t last = std::bit_ceil(2 * keys_.size() + 1) - 1;
  slots_.assign(last + 1, {});
  Coverage coverage{.ngrams = std::ssize(keys_)};
  for (const StateKey& key : keys_) {
    std::size_t at = key.low & last;
    while (slots_[at].count != 0 && slots_[at].key != key) at = (at + 1) & last;
    slots_[at].key = key;
    if (++slots_[at].count == 1) ++coverage.distinct_ngrams;
    coverage.largest_repeat = std::max(coverage.largest_repeat, slots_[at].count);
  }
  return coverage;
}

}  // namespace lie
