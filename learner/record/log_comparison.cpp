#include "learner/record/log_comparison.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/process/log.h"

namespace lie {
namespace {

bool same_bits(const LearnerResult& a, const LearnerResult& b) {
  const std::size_t bytes = a.log_probs.size() * sizeof(float);
  return std::bit_cast<std::uint32_t>(a.advantage) == std::bit_cast<std::uint32_t>(b.advantage) &&
         a.log_probs.size() == b.log_probs.size() &&
         std::memcmp(a.log_probs.data(), b.log_probs.data(), bytes) == 0;
}

bool has_logged_bits(const StepOutcome& step) {
  for (std::size_t group = 0; group < step.logged_results.size(); ++group) {
    const auto& logged = step.logged_results[group];
    const auto now = std::span(step.update.responses[group]).first(logged.size());
    if (!std::ranges::equal(logged, now, same_bits)) return false;
  }
  return true;
}

}  // namespace

void LogComparison::record(StepOutcome& step) {
  if (differs_ || has_logged_bits(step)) return;
  differs_ = true;
  Log("learner", 0)
      .warn(
          "FROM STEP {} ON, RELEARNED STEPS DIFFER FROM THE LOG: after a change of machine or "
          "build "
          "the weights equal the logged run's up to rounding, after any other change they do not; "
          "the log keeps the original values",
          step.step);
}

}  // namespace lie
