#include "learner/run_coverage.h"

namespace lie {

RunCoverage::RunCoverage(std::int64_t ngram, bool words)
    : words_(words), run_(ngram), step_(ngram) {}

GlobalCoverage RunCoverage::add_step(std::span<const ScoredGroup> groups) {
  step_.clear();
  for (const ScoredGroup& group : groups) {
    for (std::size_t i = 0; i < group.rollout.responses.size(); ++i) {
      const auto text = words_ ? std::string_view(group.texts.at(i)) : std::string_view();
      const auto units = units_of(group.rollout.responses[i].ids, text);
      step_.add(units);
      run_.add(units);
    }
  }
  return {step_.distinct(), step_.total(), run_.distinct(), run_.total()};
}

void RunCoverage::restore(std::span<const std::int32_t> ids, std::string_view text) {
  run_.add(units_of(ids, text));
}

std::span<const std::int32_t> RunCoverage::units_of(std::span<const std::int32_t> ids,
                                                    std::string_view text) {
  if (!words_) return ids;
  units_.clear();
  word_ids_.append(text, units_);
  return units_;
}

}  // namespace lie
